import { byId, delayed, element, fill, options } from "/static/dom.js";
import { QUESTION, modelOf, restored } from "/static/state.js";

const PAUSE = 350;

function isExample(model, state) {
  return model.examples.some(
    ({ text, pair }) => text === state.text && (pair ?? "") === state.pair,
  );
}

function opening(text) {
  const words = text.split(/\s+/);
  return words.length > 4 ? `${words.slice(0, 4).join(" ")} …` : text;
}

function labelControl(id, model, value, empty) {
  if (!model.labels)
    return element("input", {
      id,
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      dir: "auto",
      placeholder: model.target_hint ?? "",
    });
  const select = element("select", { id });
  options(select, ["", ...model.labels], value, (label) => label || empty);
  return select;
}

export function mountQuestion(page) {
  const model = () => modelOf(page.about, page.state.get().model);
  let waiting = {};

  // What was typed and has not been asked yet goes with whatever is asked next.
  function ask(patch) {
    const all = { ...waiting, ...patch };
    waiting = {};
    page.state.change({ ...all, hidden: [], generated: 0 });
  }

  function settle() {
    if (Object.keys(waiting).length) ask({});
  }

  const settleLater = delayed(settle, PAUSE);

  function typed(key, value) {
    waiting[key] = value;
    settleLater();
  }

  function showModel() {
    const { title, fields, labels, target_hint: hint } = model();
    byId("model").value = page.state.get().model;
    fill(byId("model-title"), title);
    fill(byId("text-label"), fields[0].label);
    fill(byId("pair-label"), fields[1]?.label ?? "");
    byId("pair-field").hidden = fields.length < 2;
    byId("target-fields").hidden = !labels && !hint;
    showLabels();
    showExamples();
  }

  function showLabels() {
    const empties = { target: "what the model says", contrast: "nothing in particular" };
    for (const [id, empty] of Object.entries(empties)) {
      const control = labelControl(id, model(), page.state.get()[id], empty);
      control.value = page.state.get()[id];
      control.addEventListener("change", () => page.state.change({ [id]: control.value.trim() }));
      if (control.tagName === "INPUT")
        control.addEventListener("input", () => typed(id, control.value.trim()));
      byId(id).replaceWith(control);
    }
  }

  function showExamples() {
    const chip = ({ title, text, pair }) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            class: "chip",
            title: text,
            click: () => ask({ text, pair: pair ?? "" }),
          },
          title || opening(text),
        ),
      );
    fill(byId("examples"), model().examples.map(chip));
  }

  function changeModel() {
    const state = { ...page.state.get(), ...waiting };
    waiting = {};
    const next = modelOf(page.about, byId("model").value);
    const keeps =
      state.text.trim() &&
      !isExample(model(), state) &&
      next.fields.length === model().fields.length;
    const given = { ...state, model: next.name, mask: "", hidden: [], generated: 0 };
    if (!keeps) delete given.text;
    page.state.change(restored(given, page.about));
  }

  function showTexts(state, changed = QUESTION) {
    if (changed.includes("model")) showModel();
    for (const id of ["text", "pair", "target", "contrast"]) {
      if (changed.includes(id) && byId(id).value.trim() !== state[id].trim())
        byId(id).value = state[id];
    }
  }

  function showModels() {
    options(
      byId("model"),
      page.about.models.map(({ name }) => name),
      page.state.get().model,
    );
  }

  page.settle = settle;
  showModels();
  page.answers.listen(["offered"], showModels);
  byId("model").addEventListener("change", changeModel);
  for (const id of ["text", "pair"]) {
    byId(id).addEventListener("input", (event) => typed(id, event.target.value));
  }
  page.state.listen(QUESTION, showTexts);
  showTexts(page.state.get());
}
