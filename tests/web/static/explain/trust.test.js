import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf } from "../../../../src/headlight/web/static/explain/trust.js";

test("the chart has a line for every method and one for random orders with their spread", () => {
  const trust = {
    level: /** @type {const} */ ("good"),
    sentence: "Good.",
    numbers: "Much is left.",
    mean: 0.4,
    random_mean: 0.7,
  };
  const curve = { method: "attcat", probabilities: [0.9, 0.4, 0.1], aopc: 0.4, trust };
  const random = { probabilities: [0.9, 0.7, 0.1], low: [0, 0, 0], high: [1, 1, 1], aopc: 0.1 };
  const levels = [0, 0.5, 1];
  const series = seriesOf({ label: "positive", levels, curves: [curve], random, failures: {} });
  assert.deepEqual(
    series.map(({ name, isFloor }) => [name, Boolean(isFloor)]),
    [
      ["attcat", false],
      ["random words (mean and spread)", true],
    ],
  );
  assert.deepEqual(series[1].spread, { low: random.low, high: random.high });
});
