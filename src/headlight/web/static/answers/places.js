/** @import { Place } from "./adding.js" */

/**
 * Write on an element what it stands for.
 * @template {HTMLElement} T
 * @param {T} node
 * @param {Place} place
 */
export function markedPlace(node, { side, kind, number }) {
  node.dataset.place = `${side} ${kind} ${number}`;
  return node;
}

/**
 * What an element stands for; null if it stands for nothing.
 * @param {string | undefined} mark
 * @returns {Place | null}
 */
export function parsedPlace(mark) {
  const found = /^(said|read) (word|sentence|source) (\d+)$/.exec(mark ?? "");
  if (!found) return null;
  const [, side, kind, number] = found;
  return {
    side: /** @type {Place["side"]} */ (side),
    kind: /** @type {Place["kind"]} */ (kind),
    number: Number(number),
  };
}

/**
 * What an event points at.
 * @param {Event} event
 */
export function placeOf(event) {
  const node = event.target instanceof Element ? event.target.closest("[data-place]") : null;
  return node instanceof HTMLElement ? parsedPlace(node.dataset.place) : null;
}

/**
 * @param {Place | null} one
 * @param {Place | null} other
 */
export const isSamePlace = (one, other) =>
  one?.side === other?.side && one?.kind === other?.kind && one?.number === other?.number;
