import { cancel } from "/static/api.js";
import { byId, element, fill, options } from "/static/dom.js";
import { markHidden } from "/static/heatmap.js";
import { probability, quoted } from "/static/numbers.js";
import { askKindly, say } from "/static/notices.js";
import { QUESTION, modelOf, questionOf } from "/static/state.js";

const CHANGES = {
  delete: "taking it out of the text",
  mask: "putting the mask token in its place",
  pad: "putting the padding token in its place",
};

function toggled(hidden, positions) {
  const isGone = positions.every((position) => hidden.includes(position));
  const others = hidden.filter((position) => !positions.includes(position));
  return isGone ? others : [...others, ...positions].sort((one, other) => one - other);
}

function verdict({ before, after, predicted, label }, count) {
  const step = `Probability of ${quoted(label)}: ${probability(before)} → ${probability(after)}.`;
  const said =
    predicted === null || predicted === undefined
      ? ""
      : ` Without ${count > 1 ? "them" : "it"} the model says ${quoted(predicted)}.`;
  return step + said;
}

// Neighbouring positions are shown as one chip, so that a word is one thing to bring back.
function groupsOf(hidden, answers) {
  const words = Object.values(answers.found)[0]?.words ?? [];
  const whole = words.filter((word) =>
    word.positions.every((position) => hidden.includes(position)),
  );
  const covered = new Set(whole.flatMap((word) => word.positions));
  const single = hidden.filter((position) => !covered.has(position));
  return [
    ...whole.map(({ text, positions }) => ({ text, positions })),
    ...single.map((position) => ({
      text: answers.tokens[position] ?? `token ${position}`,
      positions: [position],
    })),
  ].sort((one, other) => one.positions[0] - other.positions[0]);
}

export function mountHiding(page) {
  let accepted = [];
  let isUndone = false;

  page.hide = (positions) =>
    page.state.change({ hidden: toggled(page.state.get().hidden, positions) });

  function chip({ text, positions }) {
    const back = {
      type: "button",
      class: "chip",
      click: () => page.hide(positions),
      "aria-label": `Bring back ${text}`,
    };
    return element("li", {}, element("button", back, element("span", { dir: "auto" }, text), " ×"));
  }

  function showList() {
    const { hidden } = page.state.get();
    byId("hiding").classList.toggle("some", hidden.length > 0);
    byId("bring-back").hidden = hidden.length === 0;
    fill(byId("hidden-list"), groupsOf(hidden, page.answers.get()).map(chip));
    markHidden(byId("maps"), hidden);
  }

  // A token that may not be hidden comes back, and the sentence that says why stays.
  function undo() {
    isUndone = true;
    page.state.change({ hidden: accepted });
    isUndone = false;
  }

  async function measure() {
    const { hidden, change, ...state } = page.state.get();
    if (!hidden.length) {
      cancel("hide");
      say("hide", "");
      accepted = [];
      return fill(
        byId("hide-answer"),
        "Click a word in a heat map to hide it and see the probability move.",
      );
    }
    const answer = await askKindly("/api/hide", { ...questionOf(state), hidden, change }, "hide");
    if (answer === null) return undo();
    if (!answer) return;
    accepted = hidden;
    fill(byId("hide-answer"), verdict(answer, groupsOf(hidden, page.answers.get()).length));
  }

  function showChanges() {
    const state = page.state.get();
    options(
      byId("change"),
      modelOf(page.about, state.model).changes,
      state.change,
      (name) => CHANGES[name] ?? name,
    );
  }

  byId("change").addEventListener("change", (event) =>
    page.state.change({ change: event.target.value }),
  );
  byId("bring-back").addEventListener("click", () => page.state.change({ hidden: [] }));
  page.state.listen(["model", "change"], showChanges);
  page.state.listen(["hidden", "change", ...QUESTION], () => {
    showList();
    if (!isUndone) measure();
  });
  page.answers.listen(["tokens"], showList);
  showChanges();
  showList();
  measure();
}
