/** @import { PaletteFacts } from "./replies.js" */

// All colours and thresholds come from the server, which takes them from the library's colour scale.

/** @type {("positive" | "negative" | "unsigned" | "beyond")[]} */
const TONES = ["positive", "negative", "unsigned", "beyond"];

/**
 * @param {string} colour
 * @param {number} opacity
 */
const faded = (colour, opacity) => colour.replace(")", ` / ${opacity.toFixed(3)})`);

/**
 * Whether a score is larger than every score in the scale; only pieces outside the scale can be.
 * @param {number} share
 */
export const isBeyond = (share) => Math.abs(share) > 1;

/**
 * The colour of a share of the largest score.
 * @param {number} share
 * @param {boolean} isSigned
 * @param {PaletteFacts} palette
 */
export function colourOf(share, isSigned, palette) {
  const within = isSigned ? (share < 0 ? "negative" : "positive") : "unsigned";
  const tone = isBeyond(share) ? "beyond" : within;
  return faded(palette[tone], Math.min(Math.abs(share), 1) * palette.strongest);
}

/**
 * Whether a score is negative enough to be marked by more than colour.
 * @param {number} share
 * @param {boolean} isSigned
 * @param {PaletteFacts} palette
 */
export const isMarked = (share, isSigned, palette) => isSigned && share < palette.marked;

/**
 * The palette of differences between two methods.
 * @param {PaletteFacts} palette
 * @returns {PaletteFacts}
 */
export function comparing(palette) {
  const names = { ...palette.names, positive: palette.names.more, negative: palette.names.less };
  return { ...palette, positive: palette.more, negative: palette.less, names };
}

/**
 * Let the style sheet use the colours.
 * @param {PaletteFacts} palette
 */
export function applyPalette(palette) {
  const { style } = document.documentElement;
  for (const tone of TONES) style.setProperty(`--${tone}`, faded(palette[tone], palette.strongest));
  for (const [kind, colour] of Object.entries(palette.heads))
    style.setProperty(`--head-${kind}`, colour);
}
