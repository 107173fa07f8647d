/** @import { ExplainedAnswer } from "../shared/replies.js" */
/** @import { SaidUnit } from "./adding.js" */
/** @import { Answers, Page } from "./page.js" */
import { byId, element, fill, inputById } from "../shared/dom.js";
import { piecesIn, walkable } from "../shared/heatmap.js";
import { percent, probability } from "../shared/numbers.js";
import { citationsOf, hasWords, saidUnits } from "./adding.js";
import { markedPlace } from "./places.js";

/** @param {SaidUnit} unit */
function saidPiece({ place, text, probability: chance }) {
  const tip = chance === null ? text : `${text}: probability ${probability(chance)}`;
  const look = { class: "piece", role: "button", tabindex: "-1", "aria-pressed": "false" };
  return markedPlace(element("span", { ...look, "data-tip": tip, "aria-label": tip }, text), place);
}

/**
 * The numbers of the sources behind a sentence.
 * @param {ExplainedAnswer} explained
 * @param {number} sentence
 */
function citations(explained, sentence) {
  return citationsOf(explained, sentence).map(({ source, share }) => {
    const name = explained.sources[source].name;
    const tip = `${name}: ${percent(share)} of what the sources carry of this sentence`;
    const look = { type: "button", class: "cite", "data-tip": tip, "aria-label": tip };
    const node = element("button", look, `[${source + 1}] ${percent(share)}`);
    return markedPlace(node, { side: "read", kind: "source", number: source });
  });
}

/**
 * The answer, cut into pieces, with citations behind its sentences.
 * @param {ExplainedAnswer} explained
 * @param {SaidUnit[]} units
 */
function pieces(explained, units) {
  const ends = new Map(units.map(({ sentence }, place) => [sentence, place]));
  const shown = units.map((unit, place) => [
    unit.before,
    saidPiece(unit),
    ...(unit.sentence !== null && ends.get(unit.sentence) === place
      ? citations(explained, unit.sentence)
      : []),
  ]);
  const look = { class: "running", dir: "auto", role: "group", "aria-label": "The answer" };
  const text = element("p", look, shown);
  walkable(text);
  return text;
}

/**
 * Set up the answer: growing while it is written, then in pieces that can be pointed at.
 * @param {Page} page
 */
export function mountSaid(page) {
  /** @param {Answers} answers */
  function show({ asked, text, isWritten, explained }) {
    if (!asked) return;
    const { unit } = page.pointing.get();
    const focused = piecesIn(byId("said")).findIndex((node) => node === document.activeElement);
    const look = { class: isWritten ? "running" : "running writing", dir: "auto" };
    fill(
      byId("said"),
      explained
        ? pieces(explained, saidUnits(explained, unit))
        : element("p", look, text.trimStart()),
    );
    if (focused >= 0) piecesIn(byId("said"))[focused]?.focus();
    byId("units").hidden = !explained || !hasWords(explained);
  }

  page.answers.listen(["asked", "text", "isWritten", "explained"], show);
  page.answers.listen(["doing"], ({ doing }) => fill(byId("doing"), doing));
  for (const unit of /** @type {const} */ (["words", "sentences"]))
    inputById(`unit-${unit}`).addEventListener("change", () => {
      page.pointing.change({ unit, pinned: null, hovered: null });
      show(page.answers.get());
    });
}
