/** @import { Shown } from "./replies.js" */

const SMALLEST = 1e-12; // Avoids a division by zero if all scores are zero.

/** @param {number[]} scores */
const largestOf = (scores) =>
  scores.reduce((most, score) => Math.max(most, Math.abs(score)), SMALLEST);

/**
 * Whether a piece counts for a scale: special tokens do not, unless there are no others.
 * @param {Shown[]} pieces
 * @returns {(piece: Shown) => boolean}
 */
function counting(pieces) {
  return pieces.some((piece) => !piece.special) ? (piece) => !piece.special : () => true;
}

/**
 * The difference of two methods, each as shares of its sum, as on the command line.
 * @param {Shown[]} first
 * @param {Shown[]} second
 * @returns {Shown[]}
 */
export function difference(first, second) {
  const counts = counting(first);
  /** @param {Shown[]} pieces */
  const total = (pieces) =>
    pieces.filter(counts).reduce((sum, piece) => sum + Math.abs(piece.score), 0) || 1;
  const [ours, others] = [total(first), total(second)];
  const scores = first.map(
    (piece, place) => piece.score / ours - (second[place]?.score ?? 0) / others,
  );
  const largest = largestOf(scores.filter((_, place) => counts(first[place])));
  return first.map((piece, place) => ({
    ...piece,
    score: scores[place],
    share: scores[place] / largest,
  }));
}

/**
 * The inputs of one generated token as pieces. The scale leaves out the first token: causal models rest their
 * attention there.
 * @param {string[]} inputs
 * @param {number[]} scores
 * @returns {Shown[]}
 */
export function inputPieces(inputs, scores) {
  const largest = largestOf(scores.slice(inputs.length > 1 ? 1 : 0, inputs.length));
  return inputs.map((token, place) => ({
    text: token.trimStart(),
    before: token.slice(0, token.length - token.trimStart().length),
    score: scores[place],
    share: Math.max(-1, Math.min(1, scores[place] / largest)),
    special: false,
    positions: [place],
    segment: null,
  }));
}

/**
 * Pieces grouped by text: the second text of a pair starts a paragraph.
 * @param {Shown[]} pieces
 * @returns {Shown[][]}
 */
export function paragraphsOf(pieces) {
  /** @type {Shown[][]} */
  const paragraphs = [];
  /** @type {number | null} */
  let segment = null;
  for (const piece of pieces) {
    const isNext = piece.segment !== null && piece.segment !== segment;
    if (!paragraphs.length || (isNext && segment !== null)) paragraphs.push([]);
    if (isNext) segment = piece.segment;
    paragraphs[paragraphs.length - 1].push(piece);
  }
  return paragraphs;
}
