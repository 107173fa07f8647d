/** @import { Curve, DeletionCurves } from "../shared/replies.js" */
/** @import { Series } from "../shared/chart.js" */
/** @import { Page } from "./page.js" */
/** @import { State } from "./state.js" */
import { cancel } from "../shared/api.js";
import { chart } from "../shared/chart.js";
import { byId, element, fill } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { quoted } from "../shared/numbers.js";
import { saveButton } from "../shared/saving.js";
import { attributionsOf, byCost } from "./answers.js";
import { maskOf } from "./mask.js";
import { modelOf } from "./page.js";
import { followView } from "./panel.js";
import { QUESTION, questionKey, questionOf } from "./state.js";

const SHORT = 64; // Texts of up to this many tokens are measured without a click.

/** @param {Curve} curve */
export function trustLine({ method, trust }) {
  return element(
    "li",
    { class: `trust ${trust.level}` },
    element("strong", {}, method, ": ", trust.sentence),
    element("span", { dir: "auto" }, trust.numbers),
  );
}

/**
 * The lines of the chart: every method, and random orders with their spread.
 * @param {DeletionCurves} answer
 * @returns {Series[]}
 */
export function seriesOf({ levels, curves, random }) {
  return [
    ...curves.map((curve) => ({ name: curve.method, levels, values: curve.probabilities })),
    {
      name: "random words (mean and spread)",
      levels,
      values: random.probabilities,
      spread: { low: random.low, high: random.high },
      isFloor: true,
    },
  ];
}

/**
 * Set up the panel that shows how far to trust each method on this text.
 * @param {Page} page
 */
export function mountTrust(page) {
  /** @type {DeletionCurves | null} */
  let answer = null;
  let asked = "";

  /** @param {string} sentence */
  function sayInstead(sentence) {
    fill(byId("trust"), element("p", { class: "soft" }, sentence));
  }

  function forget() {
    fill(byId("curves"));
    answer = null;
    asked = "";
  }

  // A long text costs the server a minute of work, too much to start at every key press.
  function offer() {
    const button = element("button", { type: "button", id: "measure", click: measure }, "Measure");
    const why = "This takes a while for a long text or a slow method.";
    const bar = element("div", { class: "bar" }, button, element("span", { class: "soft" }, why));
    fill(byId("trust"), bar);
  }

  /** @param {DeletionCurves} answer */
  function show({ curves, failures }) {
    const failed = Object.entries(failures).map(([method, why]) =>
      element("li", { class: "trust" }, `${method}: ${why}`),
    );
    const lines = curves.map(trustLine);
    fill(byId("trust"), element("ul", { class: "plain" }, lines, failed));
    draw();
  }

  function draw() {
    if (!answer || !panel.open) return;
    const label = quoted(answer.label);
    const names = {
      x: "share of tokens removed",
      y: `probability of ${label}`,
      title: `Probability of ${label} as the highest-scored tokens are removed, compared with random ones`,
    };
    chart(byId("curves"), seriesOf(answer), names, [0, 1]);
    byId("curves").append(saveButton("curves", answer));
  }

  /** @param {State} state */
  function bodyOf(state) {
    const { methods, change } = state;
    return { ...questionOf(state), methods, change, mask: maskOf(state, modelOf(page)) };
  }

  async function measure() {
    const body = bodyOf(page.state.get());
    asked = JSON.stringify(body);
    sayInstead("Measuring …");
    /** @type {DeletionCurves | null | undefined} */
    const found = await askKindly("/api/curves", body, "curves");
    if (found === undefined) return;
    if (found === null) {
      forget();
      return sayInstead("This text could not be measured.");
    }
    answer = found;
    show(found);
  }

  // A verdict on another text, model or method must never be shown beside this one.
  function clear() {
    cancel("curves");
    forget();
    sayInstead("This is measured as soon as there is an answer.");
  }

  function update() {
    const [state, answers] = [page.state.get(), page.answers.get()];
    if (JSON.stringify(bodyOf(state)) === asked) return;
    clear();
    const isCurrent = answers.question === questionKey(state) && !answers.pending.length;
    if (!isCurrent || !attributionsOf(answers, state).length) return;
    const [, [, slow]] = byCost(state.methods, page.about.get().methods);
    if (answers.tokens.length <= SHORT && !slow.length) measure();
    else offer();
  }

  const panel = followView(page, "curves", () => draw());
  page.state.listen([...QUESTION, "methods", "change", "mask"], update);
  page.answers.listen(["found", "failures", "pending"], update);
}
