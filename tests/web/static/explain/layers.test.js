import assert from "node:assert/strict";
import { test } from "node:test";
import { shownLayer } from "../../../../src/headlight/web/static/explain/layers.js";

test("a layer is named by its number, and 0 is all together", () => {
  const views = { pieces: [], words: [] };
  const layers = [
    { layer: 1, ...views },
    { layer: 2, ...views },
  ];
  const answer = { method: "attcat", signed: true, layers, whole: views };
  assert.equal(shownLayer(answer, 0).name, "all layers together");
  assert.equal(shownLayer(answer, 2).name, "layer 2 (2 of 2)");
  assert.equal(shownLayer(answer, 9).place, 2);
});
