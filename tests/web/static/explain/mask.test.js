import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, maskOf, toHex } from "../../../../src/headlight/web/static/explain/mask.js";

const GRID = [
  [true, false, true],
  [false, true, true],
];

test("a mask is as long as a digit per four heads, and comes back", () => {
  assert.equal(toHex(GRID), "ac");
  assert.deepEqual(fromHex("ac", 2, 3), GRID);
});

test("what is no mask of this shape is none", () => {
  for (const hex of ["a", "acc", "zz", ""]) assert.equal(fromHex(hex, 2, 3), null);
});

test("without a mask in the link there is the model's own", () => {
  assert.equal(maskOf({ mask: "" }, { layers: 2, heads: 3 }), null);
  assert.deepEqual(maskOf({ mask: "ac" }, { layers: 2, heads: 3 }), GRID);
});
