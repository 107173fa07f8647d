/** @import { PaletteFacts, Shown } from "./replies.js" */
/** @import { Attributes } from "./dom.js" */
import { element } from "./dom.js";
import { number, percent } from "./numbers.js";
import { colourOf, isBeyond, isMarked } from "./palette.js";
import { paragraphsOf } from "./pieces.js";

/**
 * @typedef {object} MapSettings
 * @property {string} label what a screen reader calls the map
 * @property {boolean} isSigned
 * @property {[string, string]} meaning of a positive and of a negative score
 * @property {PaletteFacts} palette
 * @property {(positions: number[]) => void} [onHide] makes the pieces buttons
 */

/** @type {Record<string, string>} */
const INVISIBLE = { "": "∅", "\n": "⏎", "\t": "⇥", " ": "␣" };

/**
 * The words for a piece, for screen readers and tooltips.
 * @param {Shown} piece
 * @param {Pick<MapSettings, "isSigned" | "meaning">} settings
 */
export function spoken(piece, { isSigned, meaning }) {
  const direction = isSigned && piece.score ? `, ${meaning[piece.score < 0 ? 1 : 0]}` : "";
  const share = isBeyond(piece.share)
    ? " (beyond the scale)"
    : ` (${percent(Math.abs(piece.share))} of the strongest)`;
  return `${piece.text.trim() || "space"}: ${number(piece.score)}${piece.special ? "" : share}${direction}`;
}

/**
 * @param {Shown} piece
 * @param {MapSettings} settings
 */
function drawnPiece(piece, settings) {
  const label = spoken(piece, settings);
  const node = element(
    "span",
    {
      class: piece.special ? "piece special" : "piece",
      role: settings.onHide ? "button" : "img",
      tabindex: "-1",
      "data-positions": piece.positions.join(" "),
      "data-tip": label,
      "aria-label": label,
      "aria-pressed": settings.onHide && !piece.special ? "false" : null,
      "aria-disabled": settings.onHide && piece.special ? "true" : null,
    },
    INVISIBLE[piece.text] ?? piece.text,
  );
  if (piece.special) return node;
  if (isMarked(piece.share, settings.isSigned, settings.palette)) node.classList.add("against");
  node.style.backgroundColor = colourOf(piece.share, settings.isSigned, settings.palette);
  return node;
}

/**
 * The piece that an event belongs to.
 * @param {Event} event
 * @returns {HTMLElement | null}
 */
const pieceOf = (event) =>
  event.target instanceof Element ? event.target.closest(".piece") : null;

/**
 * How many pieces an arrow key moves.
 * @param {string} key
 * @param {boolean} isMirrored whether the text runs from right to left
 * @returns {number | undefined}
 */
export function stepOf(key, isMirrored) {
  const forward = isMirrored ? "ArrowLeft" : "ArrowRight";
  const backward = isMirrored ? "ArrowRight" : "ArrowLeft";
  /** @type {Record<string, number>} */
  const steps = {
    [forward]: 1,
    ArrowDown: 1,
    [backward]: -1,
    ArrowUp: -1,
    Home: -Infinity,
    End: Infinity,
  };
  return steps[key];
}

/**
 * @param {HTMLElement} map
 * @param {KeyboardEvent} event
 */
function move(map, event) {
  const node = pieceOf(event);
  if (!node) return;
  const isMirrored = getComputedStyle(node.parentElement ?? node).direction === "rtl";
  const step = stepOf(event.key, isMirrored);
  if (!step) return;
  event.preventDefault();
  const all = piecesIn(map);
  const place = Math.min(Math.max(all.indexOf(node) + step, 0), all.length - 1);
  node.tabIndex = -1;
  all[place].tabIndex = 0;
  all[place].focus();
}

/**
 * The pieces of text below a node.
 * @param {Element} root
 * @returns {HTMLElement[]}
 */
export const piecesIn = (root) => [...root.querySelectorAll(".piece")].map(asHtml);

/**
 * Let arrow keys move through the pieces of a text; the tab key enters it at the first that is not special.
 * @param {HTMLElement} map
 */
export function walkable(map) {
  const first = piecesIn(map).find((node) => !node.classList.contains("special"));
  const entry = first ?? piecesIn(map)[0];
  if (entry) entry.tabIndex = 0;
  map.addEventListener("keydown", (event) => move(map, event));
}

/** @param {Element} node */
const asHtml = (node) => /** @type {HTMLElement} */ (node);

/** @param {HTMLElement} node */
const positionsOf = (node) => (node.dataset.positions ?? "").split(" ").filter(Boolean).map(Number);

/**
 * @param {Event} event
 * @param {(positions: number[]) => void} onHide
 */
function chosen(event, onHide) {
  const node = pieceOf(event);
  if (!node || node.classList.contains("special")) return;
  if (event instanceof KeyboardEvent) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
  }
  onHide(positionsOf(node));
}

/**
 * A text with pieces coloured by score, except special tokens; arrow keys move through it.
 * @param {Shown[]} pieces
 * @param {MapSettings} settings
 * @param {Attributes} [attributes]
 */
export function heatmap(pieces, settings, attributes = {}) {
  const map = element(
    "div",
    { class: "heatmap", role: "group", "aria-label": settings.label, ...attributes },
    paragraphsOf(pieces).map((paragraph) =>
      element(
        "p",
        { class: "running", dir: "auto" },
        paragraph.map((piece) => [piece.before, drawnPiece(piece, settings)]),
      ),
    ),
  );
  walkable(map);
  const { onHide } = settings;
  if (onHide)
    for (const name of ["click", "keydown"])
      map.addEventListener(name, (event) => chosen(event, onHide));
  return map;
}

/**
 * Strike out the pieces whose tokens are all hidden.
 * @param {Element} root
 * @param {number[]} hidden
 */
export function markHidden(root, hidden) {
  const gone = new Set(hidden);
  for (const node of piecesIn(root)) {
    if (node.classList.contains("special")) continue;
    const isGone = positionsOf(node).every((position) => gone.has(position));
    node.classList.toggle("gone", isGone);
    node.setAttribute("aria-pressed", String(isGone));
  }
}
