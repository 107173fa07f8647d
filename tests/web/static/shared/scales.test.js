import assert from "node:assert/strict";
import { test } from "node:test";
import {
  area,
  extent,
  path,
  scale,
  ticks,
} from "../../../../src/headlight/web/static/shared/scales.js";

/** @param {number} value */
const same = (value) => value;

test("an extent has room even around one value", () => {
  assert.deepEqual(extent([3, 1, 2]), [1, 3]);
  assert.deepEqual(extent([2, 2]), [1.5, 2.5]);
});

test("a scale takes ends to ends, also upside down", () => {
  const y = scale([0, 1], [100, 20]);
  assert.deepEqual([y(0), y(0.5), y(1)], [100, 60, 20]);
});

test("ticks are at equal distances with both ends", () => {
  assert.deepEqual(ticks([0, 1], 5), [0, 0.25, 0.5, 0.75, 1]);
});

test("a line goes through its points, and an area comes back along the lower ones", () => {
  assert.equal(path([0, 1], [2, 3], same, same), "M0.0 2.0L1.0 3.0");
  assert.equal(area([0, 1], [1, 2], [3, 4], same, same), "M0.0 3.0L1.0 4.0L1.0 2.0L0.0 1.0Z");
});
