/** @import { AnswerChange, ExplainedAnswer } from "../shared/replies.js" */
/** @import { Place, SaidUnit } from "./adding.js" */
import { percent, probability } from "../shared/numbers.js";
import {
  columnsOf,
  ownShare,
  positiveShares,
  readScores,
  rowsOf,
  saidScores,
  textOf,
} from "./adding.js";

export const INVITATION =
  "The colours show what the whole answer came from. Point at a word of the answer, a word of the prompt or a source to see what belongs together; click to keep it.";
const MOST = 3;
const LEAST_OWN = 0.1;
const SAME = 1.05;
const HUGE = 1e6;

/** @param {string} text */
const marked = (text) => `“${text.length > 60 ? `${text.slice(0, 57).trimEnd()} …` : text}”`;

/**
 * Names in a sentence: a, b and c.
 * @param {string[]} names
 */
export function listed(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

/**
 * The places of the largest positive scores.
 * @param {number[]} scores
 * @param {(place: number) => boolean} counts
 */
function strongest(scores, counts) {
  return scores
    .map((score, place) => ({ score, place }))
    .filter(({ score, place }) => score > 0 && counts(place))
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST)
    .map(({ place }) => place);
}

/** @param {string} text */
const isWord = (text) => /[\p{L}\p{N}]/u.test(text);

/**
 * What a part of the answer came from.
 * @param {ExplainedAnswer} explained
 * @param {Place} place
 * @param {string} text
 */
function saidSentence(explained, place, text) {
  const rows = rowsOf(explained, place);
  const { words, sources } = explained;
  const best = strongest(
    readScores(explained, "word", rows),
    (number) => words[number].in_scale && isWord(words[number].text),
  ).map((number) => marked(words[number].text));
  const shares = positiveShares(readScores(explained, "source", rows));
  const [source] = strongest(shares, () => true);
  const own = ownShare(explained, rows);
  const from =
    source === undefined
      ? ""
      : ` mostly from ${sources[source].name} (${percent(shares[source])} of what the sources carry)`;
  const through = best.length
    ? `${from ? ", above all from" : " above all from"} ${listed(best)}`
    : "";
  const earlier =
    own >= LEAST_OWN ? ` The answer’s own earlier words hold ${percent(own)} of all scores.` : "";
  const came = from || through ? `came${from}${through}` : "has no support in the prompt";
  return `${marked(text)} ${came}.${earlier}`;
}

/**
 * What a word or source of the prompt carries.
 * @param {ExplainedAnswer} explained
 * @param {Place} place
 * @param {string} text
 * @param {SaidUnit[]} units
 */
function readSentence(explained, place, text, units) {
  const columns = columnsOf(explained, place);
  const scores = saidScores(explained, units, columns);
  const best = strongest(scores, (number) => isWord(units[number].text));
  const carried = listed(best.map((number) => marked(units[number].text)));
  const name = place.kind === "source" ? text : marked(text);
  return carried ? `${name} carries most: ${carried}.` : `${name} supports no part of the answer.`;
}

/**
 * What belongs to the place that is pointed at, in words.
 * @param {ExplainedAnswer} explained
 * @param {Place | null} place
 * @param {SaidUnit[]} units
 */
export function readout(explained, place, units) {
  if (!place) return INVITATION;
  const text = textOf(explained, place);
  return place.side === "read"
    ? readSentence(explained, place, text, units)
    : saidSentence(explained, place, text);
}

/**
 * A probability that is never written as 0.
 * @param {number} value
 */
const chance = (value) => (value < 0.005 ? "below 0.01" : probability(value));

/** @param {number} factor */
function times(factor) {
  if (factor >= HUGE) return "more than a million times";
  const digits = factor >= 10 ? 0 : 1;
  return `${Number(factor.toFixed(digits)).toLocaleString("en")} times`;
}

/**
 * How an answer fares without some sources, in words.
 * @param {AnswerChange} change
 * @param {string[]} names of the sources taken away
 */
export function changeSentence({ before, after, fallen }, names) {
  const without = `Without ${listed(names)}, the same answer is`;
  const factor = Math.exp(Math.abs(before - after));
  if (factor < SAME) return `${without} about as probable.`;
  if (after > before) return `${without} ${times(factor)} as probable.`;
  const most = fallen.map(
    (token) => `${marked(token.text)} (${chance(token.before)} → ${chance(token.after)})`,
  );
  const lost = most.length ? ` Most of that is ${listed(most)}.` : "";
  return `${without} ${times(factor)} less probable.${lost}`;
}

/**
 * The mean probability of a token of the answer: as a bar it can be seen, while that of all tokens together is tiny.
 * @param {number} logProbability of all tokens
 * @param {number} tokens
 */
export const perToken = (logProbability, tokens) => Math.exp(logProbability / tokens);
