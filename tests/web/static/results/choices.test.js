import assert from "node:assert/strict";
import { test } from "node:test";
import { fitted } from "../../../../src/headlight/web/static/results/choices.js";
import { run } from "../facts.js";

const NOTHING = { metric: "", first: "", second: "" };

test("the two best methods are compared where none are asked for", () => {
  assert.deepEqual(fitted(NOTHING, run()), { metric: "aopc", first: "attcat", second: "rollout" });
});

test("what is asked for is kept as far as the run has it", () => {
  const asked = { metric: "gone", first: "random", second: "rollout" };
  assert.deepEqual(fitted(asked, run()), { ...asked, metric: "aopc" });
});

test("a run of one method, or of none, has something to show", () => {
  const alone = run({ methods: ["gae"], table: [] });
  assert.deepEqual(fitted(NOTHING, alone), { metric: "aopc", first: "gae", second: "gae" });
  const empty = run({ methods: [], table: [], curved: [] });
  assert.deepEqual(fitted(NOTHING, empty), NOTHING);
});
