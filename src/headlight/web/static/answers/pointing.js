/** @import { ExplainedAnswer, PaletteFacts } from "../shared/replies.js" */
/** @import { Place, SaidUnit } from "./adding.js" */
/** @import { Page } from "./page.js" */
import { byId, fill } from "../shared/dom.js";
import { spoken } from "../shared/heatmap.js";
import { capital, percent } from "../shared/numbers.js";
import { colourOf, isMarked } from "../shared/palette.js";
import {
  columnsOf,
  positiveShares,
  readScores,
  rowsOf,
  saidScores,
  saidUnits,
  sharesOf,
} from "./adding.js";
import { NOWHERE, modelOf, shownPlace } from "./page.js";
import { layersLink } from "./opening.js";
import { isSamePlace, parsedPlace, placeOf } from "./places.js";
import { readout } from "./words.js";

/** @type {[string, string]} */
const MEANING = ["for it", "against it"];

/**
 * @param {Element} root
 * @param {string} selector
 */
const nodesIn = (root, selector) =>
  [...root.querySelectorAll(selector)].filter((node) => node instanceof HTMLElement);

/**
 * @param {HTMLElement} node
 * @param {number} share
 * @param {boolean} isSigned
 * @param {PaletteFacts} palette
 */
function colour(node, share, isSigned, palette) {
  node.style.backgroundColor = colourOf(share, isSigned, palette);
  node.classList.toggle("against", isMarked(share, isSigned, palette));
}

/** @param {HTMLElement} node */
function fade(node) {
  node.style.backgroundColor = "";
  node.classList.remove("against");
}

/**
 * Colour the words of the prompt by what they did for some parts of the answer, and show the shares of the sources.
 * @param {ExplainedAnswer} explained
 * @param {Place | null} place
 * @param {PaletteFacts} palette
 */
function paintRead(explained, place, palette) {
  const { words, signed } = explained;
  const rows = rowsOf(explained, place);
  const scores = readScores(explained, "word", rows);
  const inScale = words.map((word) => word.in_scale);
  const shares = sharesOf(scores, inScale);
  for (const [number, node] of nodesIn(byId("read"), ".piece").entries()) {
    const { text, before } = words[number];
    const shown = { text, before, score: scores[number], share: shares[number] };
    const rest = { special: false, in_scale: inScale[number], positions: [], segment: null };
    const label = spoken({ ...shown, ...rest }, { isSigned: signed, meaning: MEANING });
    node.dataset.tip = label;
    node.ariaLabel = label;
    colour(node, shares[number], signed, palette);
  }
  const carried = positiveShares(readScores(explained, "source", rows));
  for (const node of nodesIn(byId("read"), ".source")) {
    const share = carried[Number(node.dataset.source)];
    node.style.setProperty("--share", String(share));
    const value = node.querySelector(".value");
    if (value) fill(value, percent(share));
  }
}

/**
 * Colour the answer by what a word or source of the prompt did for it.
 * @param {ExplainedAnswer} explained
 * @param {Place} place
 * @param {SaidUnit[]} units
 * @param {PaletteFacts} palette
 */
function paintSaid(explained, place, units, palette) {
  const columns = columnsOf(explained, place);
  const shares = sharesOf(saidScores(explained, units, columns));
  for (const [number, node] of nodesIn(byId("said"), ".piece").entries())
    colour(node, shares[number], explained.signed, palette);
}

/**
 * Frame what is pointed at.
 * @param {Place | null} place
 * @param {Place | null} pinned
 */
function frame(place, pinned) {
  for (const node of nodesIn(byId("answer"), "[data-place]")) {
    const own = parsedPlace(node.dataset.place);
    node.classList.toggle("pointed", place !== null && isSamePlace(own, place));
    if (node.classList.contains("piece"))
      node.ariaPressed = String(pinned !== null && isSamePlace(own, pinned));
  }
}

/**
 * Offer the layers behind a word of the answer that was clicked.
 * @param {ExplainedAnswer} explained
 * @param {Place | null} pinned
 * @param {string} model
 */
function showLayers(explained, pinned, model) {
  const link = byId("layers", HTMLAnchorElement);
  const found = layersLink(explained, pinned, model);
  link.hidden = !found;
  if (!found) return;
  link.href = found.address;
  fill(link, found.words);
}

/**
 * The words for the colours.
 * @param {boolean} isSigned
 * @param {PaletteFacts["names"]} names
 */
export function legendWords(isSigned, { positive, negative, unsigned }) {
  const share = "The bar of a source is its share of what all sources carry.";
  return isSigned
    ? `${capital(positive)} supports the answer, dotted ${negative} argues against it. ${share}`
    : `${capital(unsigned)} mattered. ${share}`;
}

/**
 * Set up pointing: with the mouse, the finger or the keyboard, at the answer or at what was read.
 * @param {Page} page
 */
export function mountPointing(page) {
  function paint() {
    const { explained } = page.answers.get();
    byId("readout-bar").hidden = !explained;
    if (!explained) return;
    const { palette } = page.about.get();
    const { pinned, unit } = page.pointing.get();
    const place = shownPlace(page.pointing.get());
    const units = saidUnits(explained, unit);
    if (place?.side === "read") {
      nodesIn(byId("read"), ".piece").forEach(fade);
      paintSaid(explained, place, units, palette);
    } else {
      nodesIn(byId("said"), ".piece").forEach(fade);
      paintRead(explained, place, palette);
    }
    frame(place, pinned);
    byId("unpin").hidden = !pinned;
    showLayers(explained, pinned, modelOf(page).name);
    fill(byId("readout"), readout(explained, place, units));
    const hasSources = explained.sources.length > 0;
    const words = legendWords(explained.signed, palette.names);
    fill(byId("legend"), hasSources ? words : words.slice(0, words.lastIndexOf("The bar")));
  }

  /** @param {Event} event */
  const hover = (event) => page.pointing.change({ hovered: placeOf(event) });
  const leave = () => page.pointing.change({ hovered: null });

  /** @param {Event} event */
  function pin(event) {
    const place = placeOf(event);
    if (!place) return;
    const { pinned } = page.pointing.get();
    page.pointing.change({ pinned: isSamePlace(place, pinned) ? null : place });
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.key === "Escape") page.pointing.change({ pinned: null });
    const isPiece = event.target instanceof Element && event.target.classList.contains("piece");
    if (!isPiece || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    pin(event);
  }

  for (const area of [byId("said"), byId("read")]) {
    area.addEventListener("pointerover", hover);
    area.addEventListener("focusin", hover);
    area.addEventListener("pointerleave", leave);
    area.addEventListener("focusout", leave);
    area.addEventListener("click", pin);
    area.addEventListener("keydown", press);
  }
  byId("unpin").addEventListener("click", () =>
    page.pointing.change({ pinned: NOWHERE.pinned, hovered: NOWHERE.hovered }),
  );
  page.pointing.listen(["pinned", "hovered", "unit"], paint);
  page.answers.listen(["explained"], paint);
}
