/** @import { ExplainedAnswer } from "../../../../src/headlight/web/static/shared/replies.js" */
/** @import { Place } from "../../../../src/headlight/web/static/answers/adding.js" */

/**
 * @param {Place["side"]} side
 * @param {Place["kind"]} kind
 * @param {number} number
 * @returns {Place}
 */
export const place = (side, kind, number) => ({ side, kind, number });

/**
 * Two sentences, “Yes.” and “Now”, of which the first word was explained too.
 * @returns {ExplainedAnswer}
 */
export const explained = () => ({
  text: "The door red😀 Yes. Now",
  method: "attcat",
  signed: true,
  notes: [],
  blocks: [
    { name: "", source: null },
    { name: "Letter", source: 0 },
    { name: "Guide", source: 1 },
  ],
  words: [
    { text: "The", before: "", block: 0, in_scale: false },
    { text: "door", before: "", block: 1, in_scale: true },
    { text: "red", before: "", block: 2, in_scale: true },
  ],
  sources: [
    { name: "Letter", in_scale: true },
    { name: "Guide", in_scale: true },
  ],
  tokens: [
    { word: 0, source: null, is_own: false },
    { word: 1, source: 0, is_own: false },
    { word: 1, source: 0, is_own: false },
    { word: null, source: 0, is_own: false },
    { word: 2, source: 1, is_own: false },
    { word: null, source: null, is_own: true },
  ],
  said: [
    { text: "Yes", before: "", sentence: 0, choice: { end: 13, target: "Yes" } },
    { text: ".", before: "", sentence: 0, choice: null },
    { text: "Now", before: " ", sentence: 1, choice: { end: 18, target: "Now" } },
  ],
  parts: [
    { word: null, sentence: 0, log_probability: -1 },
    { word: null, sentence: 1, log_probability: -2 },
    { word: 0, sentence: 0, log_probability: -1 },
  ],
  scores: [
    [4, 3, 1, 0, 1, 0],
    [5, 1, 0, 1, -2, 2],
    [1, 2, 1, 0, 0, 0],
  ],
});
