/** @import { ExplainedAnswer } from "../shared/replies.js" */

/**
 * What is pointed at: a word or sentence of the answer ("said"), or a word or source of the prompt ("read").
 * @typedef {object} Place
 * @property {"said" | "read"} side
 * @property {"word" | "sentence" | "source"} kind
 * @property {number} number
 */

/**
 * A word or a sentence of the answer.
 * @typedef {object} SaidUnit
 * @property {Place} place
 * @property {string} text
 * @property {string} before the spaces before it
 * @property {number | null} sentence
 * @property {number | null} probability null if only its sentence was explained
 */

/** @typedef {"words" | "sentences"} Unit */

const LEAST_CITED = 0.1;
const MOST_CITED = 3;

/** @param {number[]} values */
export const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * Whether words of the answer were explained, not only its sentences.
 * @param {Pick<ExplainedAnswer, "parts">} explained
 */
export const hasWords = ({ parts }) => parts.some(({ word }) => word !== null);

/**
 * The places where a test holds.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => boolean} holds
 */
const placesOf = (items, holds) => items.flatMap((item, place) => (holds(item) ? [place] : []));

/**
 * The explained parts that are a word or a sentence of the answer; all sentences for null.
 * @param {Pick<ExplainedAnswer, "parts">} explained
 * @param {Place | null} place
 */
export function rowsOf({ parts }, place) {
  if (place?.side === "said" && place.kind === "word")
    return placesOf(parts, ({ word }) => word === place.number);
  const isAll = place?.side !== "said";
  return placesOf(
    parts,
    ({ word, sentence }) => word === null && (isAll || sentence === place.number),
  );
}

/**
 * What was explained first, with further parts of the same answer.
 * @param {ExplainedAnswer} known
 * @param {Pick<ExplainedAnswer, "parts" | "scores">} more
 * @returns {ExplainedAnswer}
 */
export const joined = (known, { parts, scores }) => ({
  ...known,
  parts: [...known.parts, ...parts],
  scores: [...known.scores, ...scores],
});

/**
 * The tokens of a word or source of the prompt.
 * @param {Pick<ExplainedAnswer, "tokens">} explained
 * @param {Place} place
 */
export function columnsOf({ tokens }, place) {
  const key = place.kind === "source" ? "source" : "word";
  return placesOf(tokens, (token) => token[key] === place.number);
}

/**
 * The scores of the words or sources of the prompt for some parts of the answer, added up.
 * @param {ExplainedAnswer} explained
 * @param {"word" | "source"} key
 * @param {number[]} rows
 */
export function readScores({ tokens, scores, words, sources }, key, rows) {
  const totals = new Array(key === "word" ? words.length : sources.length).fill(0);
  for (const [column, token] of tokens.entries()) {
    const number = token[key];
    if (number !== null) totals[number] += sum(rows.map((row) => scores[row][column]));
  }
  return totals;
}

/**
 * The scores of some tokens of the prompt for a word or sentence of the answer, added up.
 * @param {ExplainedAnswer} explained
 * @param {Place} place
 * @param {number[]} columns
 */
function saidScore(explained, place, columns) {
  const rows = rowsOf(explained, place);
  return sum(rows.map((row) => sum(columns.map((column) => explained.scores[row][column]))));
}

/**
 * The scores of some tokens of the prompt for all units of the answer. Words that were not explained yet are 0
 * beside those that were: the scores of their sentences are not on the same scale.
 * @param {ExplainedAnswer} explained
 * @param {SaidUnit[]} units
 * @param {number[]} columns
 */
export function saidScores(explained, units, columns) {
  const isMixed = units.some(({ place }) => place.kind === "word");
  return units.map(({ place }) =>
    isMixed && place.kind === "sentence" ? 0 : saidScore(explained, place, columns),
  );
}

/**
 * How much of all magnitudes is on the answer's own earlier words.
 * @param {ExplainedAnswer} explained
 * @param {number[]} rows
 */
export function ownShare({ tokens, scores }, rows) {
  let [own, all] = [0, 0];
  for (const [column, { is_own: isOwn }] of tokens.entries()) {
    const size = Math.abs(sum(rows.map((row) => scores[row][column])));
    all += size;
    if (isOwn) own += size;
  }
  return all ? own / all : 0;
}

/**
 * Scores as shares of the largest in the scale. Which are in it is decided by the server.
 * @param {number[]} scores
 * @param {boolean[]} [inScale] all of them by default
 */
export function sharesOf(scores, inScale = scores.map(() => true)) {
  const largest = Math.max(0, ...scores.map((score, n) => (inScale[n] ? Math.abs(score) : 0)));
  return scores.map((score) => (largest ? score / largest : 0));
}

/**
 * Scores as shares of all positive ones, as the library cites sources.
 * @param {number[]} scores
 */
export function positiveShares(scores) {
  const total = sum(scores.map((score) => Math.max(0, score))) || 1;
  return scores.map((score) => Math.max(0, score) / total);
}

/**
 * The sources that carry a sentence, the strongest first; those that carry little are left out.
 * @param {ExplainedAnswer} explained
 * @param {number} sentence
 */
export function citationsOf(explained, sentence) {
  const rows = rowsOf(explained, { side: "said", kind: "sentence", number: sentence });
  return positiveShares(readScores(explained, "source", rows))
    .map((share, source) => ({ source, share }))
    .filter(({ share }) => share >= LEAST_CITED)
    .sort((one, other) => other.share - one.share)
    .slice(0, MOST_CITED);
}

/**
 * How probable some parts of the answer were, one after the other.
 * @param {Pick<ExplainedAnswer, "parts">} explained
 * @param {Place} place
 */
function probabilityOf(explained, place) {
  const rows = rowsOf(explained, place);
  if (!rows.length) return null;
  return Math.exp(sum(rows.map((row) => explained.parts[row].log_probability)));
}

/**
 * What a word of the answer stands for when it is pointed at: itself, or its sentence if it was not explained alone.
 * @param {ExplainedAnswer} explained
 * @param {number} number
 * @returns {Place}
 */
function placeOfWord({ parts, said }, number) {
  const { sentence } = said[number];
  if (sentence === null || parts.some(({ word }) => word === number))
    return { side: "said", kind: "word", number };
  return { side: "said", kind: "sentence", number: sentence };
}

/**
 * The answer cut into words or sentences that can be pointed at.
 * @param {ExplainedAnswer} explained
 * @param {Unit} unit
 * @returns {SaidUnit[]}
 */
export function saidUnits(explained, unit) {
  const isWhole = unit === "sentences" || !hasWords(explained);
  /** @type {SaidUnit[]} */
  const units = [];
  for (const [number, { text, before, sentence }] of explained.said.entries()) {
    const last = units[units.length - 1];
    if (isWhole && last && last.sentence === sentence) last.text += before + text;
    else {
      /** @type {Place} */
      const place =
        isWhole && sentence !== null
          ? { side: "said", kind: "sentence", number: sentence }
          : placeOfWord(explained, number);
      units.push({ place, text, before, sentence, probability: probabilityOf(explained, place) });
    }
  }
  return units;
}

/**
 * The text of a word or sentence of the answer, or of a word or source of the prompt.
 * @param {ExplainedAnswer} explained
 * @param {Place} place
 */
export function textOf({ said, words, sources }, { side, kind, number }) {
  if (kind === "source") return sources[number].name;
  if (side === "read") return words[number].text;
  if (kind === "word") return said[number].text;
  const inside = said.filter(({ sentence }) => sentence === number);
  return inside.map(({ text, before }, place) => (place ? before + text : text)).join("");
}
