const MINUS = "−";

/**
 * A score with three decimals (one from 10 up), or in scientific notation if it is very small or large.
 * @param {number | null | undefined} value
 */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000 || size < 0.001) return value.toExponential(1).replaceAll("-", MINUS);
  return value.toFixed(size >= 10 ? 1 : 3).replace("-", MINUS);
}

/**
 * A probability with two digits.
 * @param {number | null | undefined} value
 */
export function probability(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2).replace("-", MINUS);
}

/**
 * A value on the axis of a chart, without trailing zeros.
 * @param {number} value
 */
export const short = (value) => String(Number(value.toFixed(2))).replace("-", MINUS);

/** @param {number} share */
export const percent = (share) => `${Math.round(share * 100)} %`;

/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {string} label */
export const quoted = (label) => `‘${label.trim()}’`;
