import assert from "node:assert/strict";
import { test } from "node:test";
import { factsOf, ranked } from "../../../../src/headlight/web/static/results/table.js";
import { run } from "../facts.js";

test("the best comes first, by whatever is better; what has no value last", () => {
  assert.deepEqual(ranked(run(), "aopc"), ["attcat", "rollout", "random"]);
  assert.deepEqual(ranked(run(), "sufficiency"), ["rollout", "attcat", "random"]);
  assert.deepEqual(ranked(run(), "none"), run().methods);
});

test("what is not known of a run is not shown", () => {
  const names = factsOf(run({ accuracy: null })).map(([name]) => name);
  assert.deepEqual(names, ["Model", "Data", "Examples"]);
  assert.deepEqual(factsOf(run({ missing: 3, failures: 1 })).slice(3), [
    ["Accuracy", "75 %"],
    ["Unfinished jobs", "3"],
    ["Failed examples", "1"],
  ]);
});
