/** @import { ExplainedAnswer } from "../shared/replies.js" */
/** @import { Place } from "./adding.js" */

const PANELS = "layers mixing";

/**
 * Where the page for single decisions shows why the model chose a word of the answer, and what a link there is
 * called; null if that page cannot show it.
 * @param {Pick<ExplainedAnswer, "text" | "said">} explained
 * @param {Place | null} place
 * @param {string} model
 */
export function layersLink({ text, said }, place, model) {
  if (place?.side !== "said" || place.kind !== "word") return null;
  const { text: word, choice } = said[place.number];
  if (!choice) return null;
  // The server counts characters, while a string of JavaScript counts halves of some of them.
  const before = Array.from(text).slice(0, choice.end).join("");
  const query = new URLSearchParams({ model, text: before, target: choice.target, view: PANELS });
  return { address: `/#${query}`, words: `Layer by layer: why “${word}” here` };
}
