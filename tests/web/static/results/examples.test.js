import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleSentence } from "../../../../src/headlight/web/static/results/examples.js";

test("an example says whether the model is right", () => {
  const example = { disagreement: 1.5, predicted: "positive", gold: "negative" };
  assert.equal(
    exampleSentence(example),
    "Disagreement 1.500; the model says positive, wrongly: it is negative.",
  );
  assert.match(exampleSentence({ ...example, gold: "positive" }), /says positive, correctly\.$/);
  assert.match(exampleSentence({ ...example, gold: null }), /says positive\.$/);
});
