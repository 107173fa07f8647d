import { byId, element, fill } from "/static/dom.js";
import { attributionsOf } from "/static/explanation.js";
import { difference, heatmap, markHidden } from "/static/heatmap.js";
import { capital, quoted } from "/static/numbers.js";
import { comparing } from "/static/palette.js";

const LONG = 150;

const piecesOf = (attribution, unit) => (unit === "words" ? attribution.words : attribution.pieces);

function swatch(tone) {
  return element("span", { class: `swatch ${tone}`, "aria-hidden": "true" });
}

function legend(attributions, explained, { names }) {
  const signed = attributions
    .filter((attribution) => attribution.signed)
    .map((attribution) => attribution.method);
  const plain = attributions
    .filter((attribution) => !attribution.signed)
    .map((attribution) => attribution.method);
  const lines = [];
  if (signed.length) {
    lines.push([
      `${capital(names.positive)} `,
      swatch("positive"),
      ` speaks for ${quoted(explained)}, ${names.negative} dotted `,
      swatch("negative"),
      " against it.",
    ]);
  }
  if (plain.length) {
    const whose = signed.length ? ` (${plain.join(", ")})` : "";
    lines.push([
      `${capital(names.unsigned)} `,
      swatch("unsigned"),
      ` counted${whose}: the stronger, the more. It does not say for or against.`,
    ]);
  }
  return lines.map((line) => element("p", {}, line));
}

function card(title, summary, ...content) {
  return element(
    "article",
    { class: "map" },
    element("h3", {}, title),
    element("p", { class: "soft" }, summary),
    content,
  );
}

function notes(attribution) {
  return attribution.notes.map((note) => element("p", { class: "note", dir: "auto" }, note));
}

export function mountMaps(page) {
  const box = byId("maps");
  const summaries = Object.fromEntries(
    page.about.methods.map((method) => [method.name, method.summary]),
  );

  function methodCard(attribution, state, explained) {
    const settings = {
      label: `Heat map of ${attribution.method}. Arrow keys move, Enter hides a word.`,
      isSigned: attribution.signed,
      meaning: [`for ${quoted(explained)}`, `against ${quoted(explained)}`],
      palette: page.about.palette,
      onHide: page.hide,
    };
    const map = heatmap(piecesOf(attribution, state.unit), settings, {
      "data-method": attribution.method,
    });
    return card(attribution.method, summaries[attribution.method] ?? "", map, notes(attribution));
  }

  function differenceCard(first, second, state) {
    const compared = comparing(page.about.palette);
    const { names } = compared;
    const settings = {
      label: `Difference of ${first.method} and ${second.method}`,
      isSigned: true,
      meaning: [`${first.method} gives more`, `${second.method} gives more`],
      palette: compared,
      onHide: page.hide,
    };
    const pieces = difference(piecesOf(first, state.unit), piecesOf(second, state.unit));
    return card(
      `${first.method} − ${second.method}`,
      `${capital(names.positive)}: ${first.method} gives more; ${names.negative} dotted: ${second.method} gives more.`,
      heatmap(pieces, settings, { "data-difference": `${first.method} ${second.method}` }),
    );
  }

  function failureCard(method, sentence) {
    return element(
      "article",
      { class: "map failed" },
      element("h3", {}, method),
      element("p", { dir: "auto" }, sentence),
    );
  }

  function waitingCard(method, isPending) {
    const words = isPending ? "Working …" : "No answer.";
    return element(
      "article",
      { class: "map waiting" },
      element("h3", {}, method),
      element("p", { class: "soft" }, words),
    );
  }

  function refocused(draw) {
    const piece = document.activeElement?.closest?.("#maps .piece");
    const place = piece && [...box.querySelectorAll(".piece")].indexOf(piece);
    draw();
    if (piece) box.querySelectorAll(".piece")[place]?.focus();
  }

  function draw() {
    const state = page.state.get();
    const answers = page.answers.get();
    if (!answers.prediction) {
      fill(box);
      return fill(byId("legend"));
    }
    const { explained } = answers.prediction;
    const found = attributionsOf(answers, state);
    const cards = state.methods.map((name) => {
      const attribution = found.find((each) => each.method === name);
      if (attribution) return methodCard(attribution, state, explained);
      return answers.failures[name]
        ? failureCard(name, answers.failures[name])
        : waitingCard(name, answers.pending.includes(name));
    });
    if (state.difference)
      cards.push(...found.slice(1).map((other) => differenceCard(found[0], other, state)));
    box.classList.toggle("long", answers.tokens.length > LONG);
    refocused(() => fill(box, cards));
    if (state.hidden.length) markHidden(box, state.hidden);
    fill(byId("legend"), legend(found, explained, page.about.palette));
  }

  page.answers.listen(["found", "failures"], draw);
  page.answers.listen(["pending"], ({ pending }, changed) => {
    if (!pending.length && !changed.includes("found")) draw();
  });
  page.state.listen(["unit", "difference", "methods", "mask"], draw);
}

export function mountMapControls(page) {
  const controls = { "unit-words": "words", "unit-tokens": "tokens" };
  for (const [id, unit] of Object.entries(controls)) {
    byId(id).addEventListener("change", () => page.state.change({ unit }));
  }
  byId("difference").addEventListener("change", (event) =>
    page.state.change({ difference: event.target.checked }),
  );
  const show = (state) => {
    byId("unit-words").checked = state.unit === "words";
    byId("unit-tokens").checked = state.unit === "tokens";
    byId("difference").checked = state.difference;
    byId("difference").disabled = state.methods.length < 2;
  };
  page.state.listen(["unit", "difference", "methods"], show);
  show(page.state.get());
}
