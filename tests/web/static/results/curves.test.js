import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf } from "../../../../src/headlight/web/static/results/curves.js";
import { run } from "../facts.js";

test("six curves and the random one are shown, or all", () => {
  const methods = ["random", ..."abcdefgh"];
  const curves = methods.map((method) => ({ method, levels: [0], means: [1] }));
  const answer = { metric: "aopc", x: "x", y: "y", curves };
  const large = run({ methods, table: [] });
  const names = seriesOf(answer, large, false).map(({ name }) => name);
  assert.deepEqual(names, ["random", ..."abcdef"]);
  assert.equal(seriesOf(answer, large, true).length, 9);
  assert.equal(seriesOf(answer, large, true)[0].isFloor, true);
});
