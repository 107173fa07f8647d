/** @import { Attributed, PaletteFacts, Views } from "../shared/replies.js" */
/** @import { Children } from "../shared/dom.js" */
/** @import { Page } from "./page.js" */
/** @import { State } from "./state.js" */
import { byId, element, fill, inputById } from "../shared/dom.js";
import { heatmap, markHidden, piecesIn } from "../shared/heatmap.js";
import { capital, quoted } from "../shared/numbers.js";
import { comparing, isBeyond } from "../shared/palette.js";
import { difference } from "../shared/pieces.js";
import { attributionsOf } from "./answers.js";
import { hide } from "./hiding.js";

const LONG = 150; // Maps of longer texts (in tokens) are shown one below the other.

/**
 * @param {Views} views
 * @param {State["unit"]} unit
 */
export const piecesOf = (views, unit) => (unit === "words" ? views.words : views.pieces);

/** @param {string} tone */
function swatch(tone) {
  return element("span", { class: `swatch ${tone}`, "aria-hidden": "true" });
}

/**
 * Whether a map has the colour of scores beyond the scale.
 * @param {Attributed} attribution
 * @param {State["unit"]} unit
 */
const goesBeyond = (attribution, unit) =>
  piecesOf(attribution, unit).some((piece) => !piece.special && isBeyond(piece.share));

/**
 * @param {Attributed[]} attributions
 * @param {State["unit"]} unit
 * @param {string} explained
 * @param {PaletteFacts} palette
 */
function legend(attributions, unit, explained, { names }) {
  const hasSigned = attributions.some((each) => each.signed);
  const plain = attributions.filter((each) => !each.signed).map((each) => each.method);
  const signedLine = [
    `${capital(names.positive)} `,
    swatch("positive"),
    ` supports ${quoted(explained)}; dotted ${names.negative} `,
    swatch("negative"),
    " argues against it.",
  ];
  const whose = hasSigned ? ` (${plain.join(", ")})` : "";
  const plainLine = [
    `${capital(names.unsigned)} `,
    swatch("unsigned"),
    ` mattered${whose}; a stronger colour mattered more. It does not say for or against.`,
  ];
  const beyondLine = [
    `${capital(names.beyond)} `,
    swatch("beyond"),
    " is beyond the scale: attention rests on the first word when it finds nothing.",
  ];
  return [
    hasSigned ? element("p", {}, signedLine) : null,
    plain.length ? element("p", {}, plainLine) : null,
    attributions.some((each) => goesBeyond(each, unit)) ? element("p", {}, beyondLine) : null,
  ];
}

/**
 * @param {string} kind
 * @param {string} title
 * @param {Children[]} content
 */
function card(kind, title, ...content) {
  return element("article", { class: `map ${kind}`.trim() }, element("h3", {}, title), ...content);
}

/** @param {string} sentence */
const soft = (sentence) => element("p", { class: "soft" }, sentence);

/**
 * Set up a heat map for each chosen method, and the differences between them.
 * @param {Page} page
 */
export function mountMaps(page) {
  const box = byId("maps");
  const { palette, methods } = page.about.get();
  /** @param {number[]} positions */
  const onHide = (positions) => hide(page, positions);

  /**
   * @param {Attributed} attribution
   * @param {State} state
   * @param {string} explained
   */
  function methodCard(attribution, state, explained) {
    const { method, signed: isSigned, notes } = attribution;
    const label = `Heat map of ${method}. Arrow keys move, Enter hides a word.`;
    /** @type {[string, string]} */
    const meaning = [`for ${quoted(explained)}`, `against ${quoted(explained)}`];
    const settings = { label, isSigned, meaning, palette, onHide };
    const map = heatmap(piecesOf(attribution, state.unit), settings, { "data-method": method });
    const lines = notes.map((note) => element("p", { class: "note", dir: "auto" }, note));
    return card(
      "",
      method,
      soft(methods.find((m) => m.name === method)?.summary ?? ""),
      map,
      lines,
    );
  }

  /**
   * @param {Attributed} first
   * @param {Attributed} second
   * @param {State} state
   */
  function differenceCard(first, second, state) {
    const compared = comparing(palette);
    const { positive, negative } = compared.names;
    /** @type {[string, string]} */
    const meaning = [`${first.method} gives more`, `${second.method} gives more`];
    const label = `Difference between ${first.method} and ${second.method}`;
    const settings = { label, isSigned: true, meaning, palette: compared, onHide };
    const pieces = difference(piecesOf(first, state.unit), piecesOf(second, state.unit));
    return card(
      "",
      `${first.method} − ${second.method}`,
      soft(`${capital(positive)}: ${meaning[0]}; dotted ${negative}: ${meaning[1]}.`),
      heatmap(pieces, settings, { "data-difference": `${first.method} ${second.method}` }),
    );
  }

  /** @param {string} method */
  function emptyCard(method) {
    const { failures, pending } = page.answers.get();
    if (failures[method])
      return card("failed", method, element("p", { dir: "auto" }, failures[method]));
    return card("waiting", method, soft(pending.includes(method) ? "Working …" : "No answer."));
  }

  /** @param {Element[]} cards */
  function showCards(cards) {
    const place = piecesIn(box).findIndex((piece) => piece === document.activeElement);
    fill(box, cards);
    if (place >= 0) piecesIn(box)[place]?.focus();
  }

  function draw() {
    const [state, answers] = [page.state.get(), page.answers.get()];
    if (!answers.prediction) {
      fill(box);
      return fill(byId("legend"));
    }
    const { explained } = answers.prediction;
    const found = attributionsOf(answers, state);
    const cards = state.methods.map((name) => {
      const attribution = found.find((each) => each.method === name);
      return attribution ? methodCard(attribution, state, explained) : emptyCard(name);
    });
    if (state.difference)
      cards.push(...found.slice(1).map((other) => differenceCard(found[0], other, state)));
    box.classList.toggle("long", answers.tokens.length > LONG);
    showCards(cards);
    if (state.hidden.length) markHidden(box, state.hidden);
    fill(byId("legend"), legend(found, state.unit, explained, palette));
  }

  page.answers.listen(["found", "failures"], draw);
  page.answers.listen(["pending"], ({ pending }, changed) => {
    if (!pending.length && !changed.includes("found")) draw();
  });
  page.state.listen(["unit", "difference", "methods", "mask"], draw);
}

/**
 * Set up the choice of words or tokens, and of differences.
 * @param {Page} page
 */
export function mountMapControls(page) {
  const [words, tokens] = [inputById("unit-words"), inputById("unit-tokens")];
  const box = inputById("difference");
  words.addEventListener("change", () => page.state.change({ unit: "words" }));
  tokens.addEventListener("change", () => page.state.change({ unit: "tokens" }));
  box.addEventListener("change", () => page.state.change({ difference: box.checked }));
  /** @param {State} state */
  const show = (state) => {
    words.checked = state.unit === "words";
    tokens.checked = state.unit === "tokens";
    box.checked = state.difference;
    box.disabled = state.methods.length < 2;
  };
  page.state.listen(["unit", "difference", "methods"], show);
  show(page.state.get());
}
