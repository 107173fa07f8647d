/** @import { Decided } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { number, probability, quoted } from "../shared/numbers.js";
import { QUESTION, questionKey } from "./state.js";

/**
 * @param {string} one
 * @param {string} other
 */
const isSame = (one, other) => one.trim() === other.trim();

/**
 * @param {string} label
 * @param {number} share
 * @param {boolean} isExplained
 */
function bar(label, share, isExplained) {
  const gauge = element("span", { class: "gauge", "aria-hidden": "true" });
  gauge.style.setProperty("--share", String(share));
  return element(
    "li",
    { class: isExplained ? "explained" : null },
    element("span", { class: "label", dir: "auto" }, label.trim() || "␣"),
    gauge,
    element("span", { class: "value" }, probability(share)),
  );
}

/**
 * The words for how sure the model is, and for the label that is explained if it is another one.
 * @param {Decided} prediction
 * @returns {{ sure: string, asked: string }}
 */
export function headlineWords({ labels, probabilities, predicted, explained, ...rest }) {
  const share = probabilities?.[labels.findIndex((label) => isSame(label, predicted))];
  const given = rest.probability === null ? number(rest.logit) : probability(rest.probability);
  return {
    sure: share === undefined ? "" : `, with probability ${probability(share)}`,
    asked: isSame(explained, predicted) ? "" : `You asked about ${quoted(explained)}: ${given}.`,
  };
}

/** @param {Decided} prediction */
function headline(prediction) {
  const { sure, asked } = headlineWords(prediction);
  const said = element("strong", { dir: "auto" }, prediction.predicted.trim());
  return [
    element("p", { class: "says" }, said, sure),
    asked ? element("p", { class: "soft", dir: "auto" }, asked) : null,
  ];
}

/**
 * Say so when the answer shown belongs to an earlier question.
 * @param {Page} page
 */
function mountStale(page) {
  const show = () => {
    const { prediction, question, pending } = page.answers.get();
    byId("stale").hidden =
      !prediction || pending.length > 0 || question === questionKey(page.state.get());
  };
  page.answers.listen(["pending", "question"], show);
  page.state.listen(QUESTION, show);
}

/**
 * Set up what the model decided, with its probabilities.
 * @param {Page} page
 */
export function mountPrediction(page) {
  mountStale(page);
  page.answers.listen(["prediction"], ({ prediction }) => {
    if (!prediction) return fill(byId("prediction"));
    const { labels, explained } = prediction;
    const shares = prediction.probabilities ?? [];
    const bars = shares.map((share, place) =>
      bar(labels[place], share, isSame(labels[place], explained)),
    );
    fill(
      byId("prediction"),
      headline(prediction),
      shares.length ? null : element("p", {}, `Value: ${number(prediction.logit)}`),
      element("ul", { class: "bars", "aria-label": "Probabilities" }, bars),
    );
  });
}
