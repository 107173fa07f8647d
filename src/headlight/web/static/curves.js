import { cancel } from "/static/api.js";
import { byId, element, fill } from "/static/dom.js";
import { chart } from "/static/chart.js";
import { attributionsOf } from "/static/explanation.js";
import { maskOf } from "/static/mask.js";
import { askKindly } from "/static/notices.js";
import { probability, quoted } from "/static/numbers.js";
import { followView } from "/static/panel.js";
import { saveButton } from "/static/saving.js";
import { QUESTION, modelOf, questionOf } from "/static/state.js";

const SHORT = 64;

function sentence({ trust, probabilities }, label) {
  return (
    `Taking away its highest-scored words step by step leaves ${quoted(label)} a probability of ` +
    `${probability(trust.mean)} on average (it is ${probability(probabilities[0])} with all words); ` +
    `taking away random words leaves ${probability(trust.random_mean)}.`
  );
}

function trustLine(curve, label) {
  return element(
    "li",
    { class: `trust ${curve.trust.level}` },
    element("strong", {}, curve.method, ": ", curve.trust.sentence),
    element("span", { dir: "auto" }, sentence(curve, label)),
  );
}

function seriesOf({ levels, curves, random }) {
  return [
    ...curves.map((curve) => ({ name: curve.method, levels, values: curve.probabilities })),
    {
      name: "random words (mean and spread)",
      levels,
      values: random.probabilities,
      low: random.low,
      high: random.high,
      isFloor: true,
    },
  ];
}

export function mountCurves(page) {
  const panel = byId("curves-panel");
  let answer = null;
  let asked = "";

  function sayInstead(sentence) {
    fill(byId("trust"), element("p", { class: "soft" }, sentence));
  }

  // A long text costs the server a minute of work, which nobody wants for every key that is pressed.
  function offer() {
    cancel("curves");
    const button = element(
      "button",
      { type: "button", id: "measure", click: measure },
      "Measure it",
    );
    fill(
      byId("trust"),
      element(
        "div",
        { class: "bar" },
        button,
        element("span", { class: "soft" }, "This takes a while for a long text or a slow method."),
      ),
    );
    forget();
  }

  function forget() {
    fill(byId("curves"));
    answer = null;
    asked = "";
  }

  function show() {
    const { failures } = answer;
    const lines = answer.curves.map((curve) => trustLine(curve, answer.label));
    const failed = Object.entries(failures).map(([method, why]) =>
      element("li", { class: "trust" }, `${method}: ${why}`),
    );
    fill(byId("trust"), element("ul", { class: "plain" }, lines, failed));
    if (panel.open) draw();
  }

  function draw() {
    if (!answer) return;
    const names = {
      x: "share of the tokens taken away",
      y: `probability of ${quoted(answer.label)}`,
      title: `Probability of ${quoted(answer.label)} while the highest-scored tokens are taken away, against random ones`,
    };
    chart(byId("curves"), seriesOf(answer), names, [0, 1]);
    byId("curves").append(saveButton("curves", answer));
  }

  function bodyOf(state) {
    const mask = maskOf(state, modelOf(page.about, state.model));
    return JSON.stringify({
      ...questionOf(state),
      methods: state.methods,
      change: state.change,
      mask,
    });
  }

  async function measure() {
    const body = bodyOf(page.state.get());
    asked = body;
    sayInstead("Measuring …");
    const found = await askKindly("/api/curves", JSON.parse(body), "curves");
    if (found === undefined) return;
    if (found === null) {
      forget();
      return sayInstead("It could not be measured for this text.");
    }
    answer = found;
    show();
  }

  function isCheap(state, answers) {
    const slow = page.about.methods
      .filter((method) => method.cost === "slow")
      .map((method) => method.name);
    return answers.tokens.length <= SHORT && !state.methods.some((name) => slow.includes(name));
  }

  // A verdict on another text, model or method must not stand beside this one, not for a moment.
  function clear() {
    cancel("curves");
    forget();
    sayInstead("It is measured when there is an answer.");
  }

  function update() {
    const [state, answers] = [page.state.get(), page.answers.get()];
    if (bodyOf(state) === asked) return;
    clear();
    const isCurrent =
      answers.question === JSON.stringify(questionOf(state)) && !answers.pending.length;
    if (!isCurrent || !attributionsOf(answers, state).length) return;
    if (isCheap(state, answers)) measure();
    else offer();
  }

  followView(page, "curves", () => panel.open && draw());
  page.state.listen([...QUESTION, "methods", "change", "mask"], update);
  page.answers.listen(["found", "failures", "pending"], update);
}
