import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changeSentence,
  groupsOf,
  toggled,
} from "../../../../src/headlight/web/static/explain/hiding.js";
import { attributed, piece } from "../facts.js";

test("positions are hidden in order, and come back when all of them were hidden", () => {
  assert.deepEqual(toggled([5], [2, 3]), [2, 3, 5]);
  assert.deepEqual(toggled([2, 3, 5], [2, 3]), [5]);
  assert.deepEqual(toggled([2, 5], [2, 3]), [2, 3, 5]);
});

test("a word is one thing to bring back", () => {
  const words = [piece("un loved", 1, { positions: [1, 2] }), piece("film", 1, { positions: [3] })];
  const answers = {
    found: { attcat: attributed("attcat", { words }) },
    tokens: ["[CLS]", "un", "##loved", "film"],
  };
  assert.deepEqual(groupsOf([1, 2, 3], answers), [
    { text: "un loved", positions: [1, 2] },
    { text: "film", positions: [3] },
  ]);
  assert.deepEqual(groupsOf([2], answers), [{ text: "##loved", positions: [2] }]);
  assert.deepEqual(groupsOf([8], { found: {}, tokens: [] }), [{ text: "token 9", positions: [8] }]);
});

test("what became of the probability is said, and what the model says then", () => {
  const change = { label: "positive", before: 0.912, after: 0.4, predicted: "negative" };
  assert.equal(
    changeSentence(change, 1),
    "Probability of ‘positive’: 0.91 → 0.40. Without it the model says ‘negative’.",
  );
  assert.match(changeSentence(change, 2), /Without them/);
  assert.equal(
    changeSentence({ ...change, predicted: null }, 1),
    "Probability of ‘positive’: 0.91 → 0.40.",
  );
});
