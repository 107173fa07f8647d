import assert from "node:assert/strict";
import { test } from "node:test";
import { headlineWords } from "../../../../src/headlight/web/static/explain/prediction.js";
import { explanation } from "../facts.js";

test("the headline says how sure the model is, and what is asked about instead", () => {
  const { prediction } = explanation();
  assert.deepEqual(headlineWords(prediction), { sure: ", with probability 0.90", asked: "" });
  const other = { ...prediction, explained: " negative", probability: 0.1 };
  assert.equal(headlineWords(other).asked, "You asked about ‘negative’: 0.10.");
  const value = {
    ...prediction,
    labels: [],
    probabilities: null,
    explained: "x",
    probability: null,
  };
  assert.deepEqual(headlineWords(value), {
    sure: "",
    asked: "You asked about ‘x’: 2.000.",
  });
});
