/** @import { ExampleText, ModelFacts } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
/** @import { Given, State } from "./state.js" */
import { byId, delayed, element, fill, options, selectById } from "../shared/dom.js";
import { modelOf } from "./page.js";
import { QUESTION, restored } from "./state.js";

const PAUSE = 350;
const OPENING = 4; // How many words of an example its button shows.
const EMPTIES = { target: "what the model predicts", contrast: "nothing in particular" };
const LABELS = /** @type {("target" | "contrast")[]} */ (Object.keys(EMPTIES));
/** @type {("text" | "pair")[]} */
const TEXTS = ["text", "pair"];

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/** @param {string} id */
const controlById = (id) => /** @type {Control} */ (byId(id));

/**
 * Whether the texts are an example of the model, not written by the user.
 * @param {Pick<ModelFacts, "examples">} model
 * @param {Pick<State, "text" | "pair">} state
 */
export function isExample(model, state) {
  return model.examples.some(
    ({ text, pair }) => text === state.text && (pair ?? "") === state.pair,
  );
}

/**
 * The first words of a text.
 * @param {string} text
 */
export function opening(text) {
  const words = text.split(/\s+/);
  return words.length > OPENING ? `${words.slice(0, OPENING).join(" ")} …` : text;
}

/**
 * The state after another model was chosen; the user's text stays if the model reads as many texts.
 * @param {State} state
 * @param {ModelFacts} model
 * @param {ModelFacts} next
 * @returns {Given}
 */
export function movedTo(state, model, next) {
  const isKept =
    state.text.trim() && !isExample(model, state) && next.fields.length === model.fields.length;
  const text = isKept ? state.text : undefined;
  return { ...state, model: next.name, mask: "", hidden: [], generated: 0, text };
}

/**
 * A list of labels, or a text field if the model has none.
 * @param {"target" | "contrast"} id
 * @param {ModelFacts} model
 * @param {string} value
 */
function labelControl(id, model, value) {
  if (model.labels) {
    const select = element("select", { id });
    options(select, ["", ...model.labels], value, (label) => label || EMPTIES[id]);
    return select;
  }
  const look = { id, type: "text", autocomplete: "off", spellcheck: "false", dir: "auto" };
  const input = element("input", { ...look, placeholder: model.target_hint ?? "" });
  input.value = value;
  return input;
}

/**
 * Set up the fields of the question. Returns a function that sends typed text to the server at once, instead
 * of after a pause.
 * @param {Page} page
 * @returns {() => void}
 */
export function mountQuestion(page) {
  /** @type {Partial<State>} */
  let waiting = {};

  /**
   * Typed text that was not sent yet is sent with the next change.
   * @param {Partial<State>} patch
   */
  function ask(patch) {
    const all = { ...waiting, ...patch };
    waiting = {};
    page.state.change({ ...all, hidden: [], generated: 0 });
  }

  function settle() {
    if (Object.keys(waiting).length) ask({});
  }

  const settleLater = delayed(settle, PAUSE);

  /** @param {Partial<State>} patch */
  function typed(patch) {
    waiting = { ...waiting, ...patch };
    settleLater();
  }

  function showModel() {
    const { name, title, fields, labels, target_hint: hint } = modelOf(page);
    selectById("model").value = name;
    fill(byId("model-title"), title);
    fill(byId("text-label"), fields[0].label);
    fill(byId("pair-label"), fields[1]?.label ?? "");
    byId("pair-field").hidden = fields.length < 2;
    byId("target-fields").hidden = !labels && !hint;
    LABELS.forEach(showLabel);
    fill(byId("examples"), modelOf(page).examples.map(exampleChip));
  }

  /** @param {"target" | "contrast"} id */
  function showLabel(id) {
    const control = labelControl(id, modelOf(page), page.state.get()[id]);
    control.addEventListener("change", () => page.state.change({ [id]: control.value.trim() }));
    if (control instanceof HTMLInputElement)
      control.addEventListener("input", () => typed({ [id]: control.value.trim() }));
    byId(id).replaceWith(control);
  }

  /** @param {ExampleText} example */
  function exampleChip({ text, pair }) {
    const click = () => ask({ text, pair: pair ?? "" });
    const chip = { type: "button", class: "chip", title: text, click };
    return element("li", {}, element("button", chip, opening(text)));
  }

  function changeModel() {
    const state = { ...page.state.get(), ...waiting };
    waiting = {};
    const about = page.about.get();
    const next = about.models.find(({ name }) => name === selectById("model").value);
    if (next) page.state.change(restored(movedTo(state, modelOf(page), next), about));
  }

  /**
   * @param {State} state
   * @param {(keyof State)[]} changed
   */
  function showTexts(state, changed) {
    if (changed.includes("model")) showModel();
    for (const id of [...TEXTS, ...LABELS]) {
      const control = controlById(id);
      if (changed.includes(id) && control.value.trim() !== state[id].trim())
        control.value = state[id];
    }
  }

  function showModels() {
    const names = page.about.get().models.map(({ name }) => name);
    options(selectById("model"), names, page.state.get().model);
  }

  showModels();
  page.about.listen(["models"], showModels);
  byId("model").addEventListener("change", changeModel);
  for (const id of TEXTS)
    byId(id).addEventListener("input", () => typed({ [id]: controlById(id).value }));
  page.state.listen(QUESTION, showTexts);
  showTexts(page.state.get(), QUESTION);
  return settle;
}
