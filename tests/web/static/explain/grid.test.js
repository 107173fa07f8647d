import assert from "node:assert/strict";
import { test } from "node:test";
import { headName, switched } from "../../../../src/headlight/web/static/explain/grid.js";

test("layers and heads are counted from 1", () => {
  const map = { kinds: [["syntactic", null]], roles: [[["nsubj", "obj"], []]] };
  assert.equal(headName(map, 0, 0), "Layer 1, head 1, syntactic: nsubj, obj");
  assert.equal(headName(map, 0, 1), "Layer 1, head 2");
});

test("one head is switched and the others stay", () => {
  const mask = [
    [true, false],
    [true, true],
  ];
  assert.deepEqual(switched(mask, 0, 1), [
    [true, true],
    [true, true],
  ]);
  assert.deepEqual(switched(mask, 1, 0), [
    [true, false],
    [false, true],
  ]);
});
