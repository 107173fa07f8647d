/** @import { WithoutHeads } from "../../../../src/headlight/web/static/shared/replies.js" */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  headsOf,
  movedSentence,
  places,
} from "../../../../src/headlight/web/static/explain/switching.js";

/** @type {WithoutHeads} */
const REPLY = {
  label: "good",
  unit: "probability",
  before: 0.9912,
  after: 0.4,
  predicted_before: "good",
  predicted_after: "bad",
  off: 3,
  heads: 12,
};

test("the answer is told before and after", () => {
  assert.equal(
    movedSentence(REPLY),
    "3 of 12 heads are off. Probability of ‘good’: 0.991 → 0.400. The model now says ‘bad’.",
  );
  assert.equal(
    movedSentence({ ...REPLY, off: 1, after: 0.98, predicted_after: "good" }),
    "1 of 12 heads is off. Probability of ‘good’: 0.991 → 0.980. The model still says ‘good’.",
  );
  assert.equal(
    movedSentence({ ...REPLY, unit: "value", label: "value", before: 1, after: -2 }),
    "3 of 12 heads are off. Value of ‘value’: 1.000 → −2.000.",
  );
});

test("heads are counted from 1", () => {
  const off = [
    [false, true],
    [true, false],
  ];
  assert.deepEqual(places(off), [
    [1, 2],
    [2, 1],
  ]);
});

test("heads are chosen by their kinds", () => {
  const map = { kinds: [["syntactic", null, "both", "positional"]] };
  assert.deepEqual(headsOf(map, ["syntactic", "both"]), [[true, false, true, false]]);
  assert.deepEqual(headsOf(map, [null]), [[false, true, false, false]]);
});
