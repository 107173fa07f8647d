/** @import { Generated, Shown } from "./replies.js" */

// Which pieces set the scale is decided by the server; here it is only followed.

/**
 * The magnitudes in the scale.
 * @param {Shown[]} pieces
 */
const scaleOf = (pieces) =>
  pieces.flatMap((piece) => (piece.in_scale ? Math.abs(piece.score) : []));

/** @param {number[]} sizes */
const largestOf = (sizes) => sizes.reduce((most, size) => Math.max(most, size), 0);

/**
 * @param {number} score
 * @param {number} largest
 */
const shareOf = (score, largest) => (largest ? score / largest : 0);

/**
 * Scores as shares of the sum of the scale; those beyond it are cut to its largest, as `normalised("sum")` does.
 * @param {Shown[]} pieces
 */
function normalised(pieces) {
  const sizes = scaleOf(pieces);
  const [largest, total] = [largestOf(sizes), sizes.reduce((sum, size) => sum + size, 0) || 1];
  return pieces.map(({ score }) => Math.max(-largest, Math.min(largest, score)) / total);
}

/**
 * The difference of two methods, each as shares of its sum, as on the command line.
 * @param {Shown[]} first
 * @param {Shown[]} second
 * @returns {Shown[]}
 */
export function difference(first, second) {
  const others = normalised(second);
  const pieces = normalised(first).map((share, place) => ({
    ...first[place],
    score: share - (others[place] ?? 0),
  }));
  const largest = largestOf(scaleOf(pieces));
  return pieces.map((piece) => ({ ...piece, share: shareOf(piece.score, largest) }));
}

/**
 * The inputs of one generated token as pieces.
 * @param {Generated} answer
 * @param {number} row
 * @returns {Shown[]}
 */
export function inputPieces({ prompt, output, matrix, largest_by_row, special, in_scale }, row) {
  const inputs = [...prompt, ...output].slice(0, prompt.length + row);
  return inputs.map((token, place) => ({
    text: token.trimStart(),
    before: token.slice(0, token.length - token.trimStart().length),
    score: matrix[row][place],
    share: shareOf(matrix[row][place], largest_by_row[row]),
    special: special[place],
    in_scale: in_scale[place],
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
