import { byId, element, fill } from "/static/dom.js";
import { number, probability, quoted } from "/static/numbers.js";
import { QUESTION, questionOf } from "/static/state.js";

const isSame = (one, other) => String(one).trim() === String(other).trim();

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

function headline(prediction) {
  const { predicted, explained, probability: chance } = prediction;
  const share =
    prediction.probabilities?.[prediction.labels.findIndex((label) => isSame(label, predicted))];
  const sure = share === undefined ? "" : `, with probability ${probability(share)}`;
  const says = element(
    "p",
    { class: "says" },
    element("strong", { dir: "auto" }, String(predicted).trim()),
    sure,
  );
  if (isSame(explained, predicted)) return [says];
  const asked = `You ask about ${quoted(explained)}, which it gives ${chance === null ? number(prediction.logit) : probability(chance)}.`;
  return [says, element("p", { class: "soft", dir: "auto" }, asked)];
}

function mountStale(page) {
  const show = () => {
    const { prediction, question, pending } = page.answers.get();
    byId("stale").hidden =
      !prediction ||
      pending.length > 0 ||
      question === JSON.stringify(questionOf(page.state.get()));
  };
  page.answers.listen(["pending", "question"], show);
  page.state.listen(QUESTION, show);
}

export function mountPrediction(page) {
  mountStale(page);
  page.answers.listen(["prediction"], ({ prediction }) => {
    if (!prediction) return fill(byId("prediction"));
    const shares = prediction.probabilities ?? [];
    const bars = shares.map((share, place) =>
      bar(
        String(prediction.labels[place]),
        share,
        isSame(prediction.labels[place], prediction.explained),
      ),
    );
    const score = shares.length ? null : element("p", {}, `Value: ${number(prediction.logit)}`);
    fill(
      byId("prediction"),
      headline(prediction),
      score,
      element("ul", { class: "bars", "aria-label": "Probabilities" }, bars),
    );
  });
}
