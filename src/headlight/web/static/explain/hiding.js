/** @import { ProbabilityChange } from "../shared/replies.js" */
/** @import { Answers } from "./answers.js" */
/** @import { Page } from "./page.js" */
import { cancel } from "../shared/api.js";
import { byId, element, fill, options, selectById } from "../shared/dom.js";
import { markHidden } from "../shared/heatmap.js";
import { askKindly, say } from "../shared/notices.js";
import { probability, quoted } from "../shared/numbers.js";
import { modelOf } from "./page.js";
import { QUESTION, questionOf } from "./state.js";

/**
 * Tokens that are hidden and shown again together.
 * @typedef {object} HiddenGroup
 * @property {string} text
 * @property {number[]} positions
 */

/** @type {Record<string, string>} */
const CHANGES = {
  delete: "deleting it",
  mask: "replacing it with the mask token",
  pad: "replacing it with the padding token",
};
const INVITATION = "Click a word in a heat map to hide it and see how the probability changes.";

/**
 * The hidden positions after a click: the given ones are added, or removed if all of them were hidden.
 * @param {number[]} hidden
 * @param {number[]} positions
 */
export function toggled(hidden, positions) {
  const isGone = positions.every((position) => hidden.includes(position));
  const others = hidden.filter((position) => !positions.includes(position));
  return isGone ? others : [...others, ...positions].sort((one, other) => one - other);
}

/**
 * How the probability changed, in words.
 * @param {ProbabilityChange} change
 * @param {number} count how many words are hidden
 */
export function changeSentence({ before, after, predicted, label }, count) {
  const step = `Probability of ${quoted(label)}: ${probability(before)} → ${probability(after)}.`;
  if (predicted === null) return step;
  return `${step} Without ${count > 1 ? "them" : "it"} the model says ${quoted(predicted)}.`;
}

/**
 * Hidden tokens grouped by word: a word is shown again as a whole.
 * @param {number[]} hidden
 * @param {Pick<Answers, "found" | "tokens">} answers
 * @returns {HiddenGroup[]}
 */
export function groupsOf(hidden, { found, tokens }) {
  const words = Object.values(found)[0]?.words ?? [];
  const whole = words.filter((word) =>
    word.positions.every((position) => hidden.includes(position)),
  );
  const covered = new Set(whole.flatMap((word) => word.positions));
  const single = hidden.filter((position) => !covered.has(position));
  return [
    ...whole.map(({ text, positions }) => ({ text, positions })),
    ...single.map((position) => ({
      text: tokens[position] ?? `token ${position + 1}`,
      positions: [position],
    })),
  ].sort((one, other) => one.positions[0] - other.positions[0]);
}

/**
 * Hide tokens, or show them again.
 * @param {Page} page
 * @param {number[]} positions
 */
export function hide(page, positions) {
  page.state.change({ hidden: toggled(page.state.get().hidden, positions) });
}

/**
 * Set up the list of hidden words, and the probability without them.
 * @param {Page} page
 */
export function mountHiding(page) {
  /** @type {number[]} */
  let accepted = [];
  let isUndone = false;

  /** @param {HiddenGroup} group */
  function chip({ text, positions }) {
    const click = () => hide(page, positions);
    const back = { type: "button", class: "chip", click, "aria-label": `Show ${text} again` };
    return element("li", {}, element("button", back, element("span", { dir: "auto" }, text), " ×"));
  }

  function showList() {
    const { hidden } = page.state.get();
    byId("hiding").classList.toggle("some", hidden.length > 0);
    byId("bring-back").hidden = hidden.length === 0;
    fill(byId("hidden-list"), groupsOf(hidden, page.answers.get()).map(chip));
    markHidden(byId("maps"), hidden);
  }

  // A token that may not be hidden is shown again, and the sentence that says why stays.
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
      return fill(byId("hide-answer"), INVITATION);
    }
    const body = { ...questionOf(state), hidden, change };
    /** @type {ProbabilityChange | null | undefined} */
    const answer = await askKindly("/api/hide", body, "hide");
    if (answer === null) return undo();
    if (!answer) return;
    accepted = hidden;
    const count = groupsOf(hidden, page.answers.get()).length;
    fill(byId("hide-answer"), changeSentence(answer, count));
  }

  function showChanges() {
    const { change } = page.state.get();
    options(chooser, modelOf(page).changes, change, (name) => CHANGES[name] ?? name);
  }

  const chooser = selectById("change");
  chooser.addEventListener("change", () => page.state.change({ change: chooser.value }));
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
