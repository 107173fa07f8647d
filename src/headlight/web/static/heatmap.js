import { element } from "/static/dom.js";
import { number, percent } from "/static/numbers.js";
import { colourOf, isMarked } from "/static/palette.js";

const INVISIBLE = { "": "∅", "\n": "⏎", "\t": "⇥", " ": "␣" };

function spoken(piece, { isSigned, meaning }) {
  const direction = isSigned && piece.score ? `, ${meaning[piece.score < 0 ? 1 : 0]}` : "";
  const share = piece.special ? "" : ` (${percent(Math.abs(piece.share))} of the strongest)`;
  return `${piece.text.trim() || "space"}: ${number(piece.score)}${share}${direction}`;
}

function drawnPiece(piece, settings) {
  const label = spoken(piece, settings);
  const isButton = settings.hideable && !piece.special;
  const node = element(
    "span",
    {
      class: piece.special ? "piece special" : "piece",
      role: settings.hideable ? "button" : "img",
      tabindex: "-1",
      "data-positions": piece.positions.join(" "),
      "data-tip": label,
      "aria-label": label,
      "aria-pressed": isButton ? "false" : null,
      "aria-disabled": settings.hideable && piece.special ? "true" : null,
    },
    INVISIBLE[piece.text] ?? piece.text,
  );
  if (isMarked(piece.share, settings.isSigned, settings.palette)) node.classList.add("against");
  node.style.backgroundColor = colourOf(piece.share, settings.isSigned, settings.palette);
  return node;
}

function paragraphs(pieces, settings) {
  const boxes = [];
  let segment = null;
  for (const piece of pieces) {
    const isNext =
      piece.segment !== null && piece.segment !== undefined && piece.segment !== segment;
    if (!boxes.length || (isNext && segment !== null))
      boxes.push(element("p", { class: "running", dir: "auto" }));
    if (isNext) segment = piece.segment;
    boxes.at(-1).append(piece.before ?? "", drawnPiece(piece, settings));
  }
  return boxes;
}

function stepOf(event, node) {
  const isMirrored = getComputedStyle(node.parentElement).direction === "rtl";
  const forward = isMirrored ? "ArrowLeft" : "ArrowRight";
  const backward = isMirrored ? "ArrowRight" : "ArrowLeft";
  return {
    [forward]: 1,
    ArrowDown: 1,
    [backward]: -1,
    ArrowUp: -1,
    Home: -Infinity,
    End: Infinity,
  }[event.key];
}

function move(map, event) {
  const node = event.target.closest(".piece");
  const step = node && stepOf(event, node);
  if (!step) return;
  event.preventDefault();
  const all = [...map.querySelectorAll(".piece")];
  const place = Math.min(Math.max(all.indexOf(node) + step, 0), all.length - 1);
  node.tabIndex = -1;
  all[place].tabIndex = 0;
  all[place].focus();
}

export const positionsOf = (node) => node.dataset.positions.split(" ").filter(Boolean).map(Number);

function chosen(event, onHide) {
  const node = event.target.closest(".piece");
  if (!node || node.classList.contains("special")) return;
  if (event.type === "keydown") {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
  }
  onHide(positionsOf(node));
}

// settings: label, isSigned, meaning [for, against], palette; onHide(positions) makes the pieces buttons.
export function heatmap(pieces, settings, attributes = {}) {
  const map = element("div", {
    class: "heatmap",
    role: "group",
    "aria-label": settings.label,
    ...attributes,
  });
  map.append(...paragraphs(pieces, { ...settings, hideable: Boolean(settings.onHide) }));
  const first = map.querySelector(".piece:not(.special)") ?? map.querySelector(".piece");
  if (first) first.tabIndex = 0;
  map.addEventListener("keydown", (event) => move(map, event));
  if (settings.onHide) {
    for (const name of ["click", "keydown"])
      map.addEventListener(name, (event) => chosen(event, settings.onHide));
  }
  return map;
}

export function markHidden(root, hidden) {
  const gone = new Set(hidden);
  for (const node of root.querySelectorAll(".piece:not(.special)")) {
    const isGone = positionsOf(node).every((position) => gone.has(position));
    node.classList.toggle("gone", isGone);
    node.setAttribute("aria-pressed", String(isGone));
  }
}

// As the command line does it: each method as shares of its own sum, one taken from the other.
export function difference(first, second) {
  const isOrdinary = first.some((piece) => !piece.special) ? (piece) => !piece.special : () => true;
  const total = (pieces) =>
    pieces.filter(isOrdinary).reduce((sum, piece) => sum + Math.abs(piece.score), 0) || 1;
  const [ours, others] = [total(first), total(second)];
  const scores = first.map(
    (piece, place) => piece.score / ours - (second[place]?.score ?? 0) / others,
  );
  const largest = Math.max(
    ...scores.filter((_, place) => !first[place].special).map(Math.abs),
    1e-12,
  );
  return first.map((piece, place) => ({
    ...piece,
    score: scores[place],
    share: scores[place] / largest,
  }));
}
