/** @import { ModelFacts } from "../shared/replies.js" */
/** @import { State } from "./state.js" */

/** The method that follows only the heads of a mask. */
export const MASKED = "mask_lrp";

/**
 * A head mask for a link: one bit per head, layer by layer, four bits per hexadecimal digit.
 * @param {boolean[][]} grid
 */
export function toHex(grid) {
  const bits = grid.flat();
  let hex = "";
  for (let start = 0; start < bits.length; start += 4) {
    const digit = [0, 1, 2, 3].reduce((sum, place) => sum * 2 + (bits[start + place] ? 1 : 0), 0);
    hex += digit.toString(16);
  }
  return hex;
}

/**
 * The mask in a link; null if it does not fit a model with these numbers of layers and heads.
 * @param {string} hex
 * @param {number} layers
 * @param {number} heads
 * @returns {boolean[][] | null}
 */
export function fromHex(hex, layers, heads) {
  if (hex.length !== Math.ceil((layers * heads) / 4) || !/^[0-9a-f]+$/.test(hex)) return null;
  /** @param {number} place */
  const isOpen = (place) => Boolean((parseInt(hex[place >> 2], 16) >> (3 - (place & 3))) & 1);
  const places = Array.from({ length: layers * heads }, (_, place) => isOpen(place));
  return Array.from({ length: layers }, (_, layer) =>
    places.slice(layer * heads, (layer + 1) * heads),
  );
}

/**
 * The mask to ask with; null for the model's mask.
 * @param {Pick<State, "mask">} state
 * @param {Pick<ModelFacts, "layers" | "heads">} model
 */
export function maskOf(state, model) {
  return state.mask ? fromHex(state.mask, model.layers, model.heads) : null;
}
