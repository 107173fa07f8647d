import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colourOf,
  comparing,
  isBeyond,
  isMarked,
} from "../../../../src/headlight/web/static/shared/palette.js";
import { PALETTE } from "../facts.js";

test("a share has the tone of its sign and an opacity up to the strongest", () => {
  assert.equal(colourOf(1, true, PALETTE), "rgb(1 2 3 / 0.500)");
  assert.equal(colourOf(-0.5, true, PALETTE), "rgb(4 5 6 / 0.250)");
  assert.equal(colourOf(-0.5, false, PALETTE), "rgb(7 8 9 / 0.250)");
});

test("scores beyond the scale have one colour, whatever their sign", () => {
  assert.equal(colourOf(7, false, PALETTE), "rgb(16 17 18 / 0.500)");
  assert.equal(colourOf(-1.01, true, PALETTE), "rgb(16 17 18 / 0.500)");
  assert.deepEqual([1, -1, 1.01, -7].map(isBeyond), [false, false, true, true]);
});

test("a signed share below the threshold that the server sends is marked", () => {
  assert.equal(isMarked(-0.26, true, PALETTE), true);
  assert.equal(isMarked(-0.25, true, PALETTE), false);
  assert.equal(isMarked(-1, false, PALETTE), false);
});

test("differences have colours and names of their own", () => {
  const compared = comparing(PALETTE);
  assert.equal(compared.positive, PALETTE.more);
  assert.equal(compared.negative, PALETTE.less);
  assert.deepEqual([compared.names.positive, compared.names.negative], ["green", "red"]);
  assert.equal(compared.marked, PALETTE.marked);
});
