import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellSize,
  colouredCells,
  shortened,
} from "../../../../src/headlight/web/static/explain/matrix.js";
import { PALETTE } from "../facts.js";

test("the whole matrix has one scale, and zeros have no colour", () => {
  const matrix = [
    [1, 0],
    [2, 4],
  ];
  const cells = colouredCells({ matrix, largest: 4, isSigned: false, palette: PALETTE });
  assert.deepEqual(
    cells.map(({ row, column, colour }) => [row, column, colour]),
    [
      [0, 0, "rgb(7 8 9 / 0.125)"],
      [1, 0, "rgb(7 8 9 / 0.250)"],
      [1, 1, "rgb(7 8 9 / 0.500)"],
    ],
  );
});

test("cells beyond the scale have a colour of their own", () => {
  const [sink] = colouredCells({ matrix: [[9, 4]], largest: 4, isSigned: true, palette: PALETTE });
  assert.equal(sink.colour, "rgb(16 17 18 / 0.500)");
});

test("a label of white space is a sign", () => {
  assert.deepEqual(
    ["\n", " ", " a"].map((text) => shortened(text, () => 1)),
    ["⏎", "␣", "a"],
  );
});

test("negative cells are marked by the threshold of all maps", () => {
  const matrix = [[-1, -2, 4]];
  const cells = colouredCells({ matrix, largest: 4, isSigned: true, palette: PALETTE });
  assert.deepEqual(
    cells.map((cell) => cell.isMarked),
    [false, true, false],
  );
});

test("a matrix of nothing has no cells", () => {
  assert.deepEqual(
    colouredCells({ matrix: [[0]], largest: 0, isSigned: false, palette: PALETTE }),
    [],
  );
});

test("more columns have smaller cells", () => {
  assert.deepEqual([10, 40, 100].map(cellSize), [22, 15, 11]);
});

test("labels are cut to their room", () => {
  /** @param {string} text */
  const widthOf = (text) => 10 * text.length;
  assert.equal(shortened(" film ", widthOf), "film");
  assert.equal(shortened(" ", widthOf), "␣");
  assert.equal(shortened("unforgettably", widthOf), "unforgetta…");
});
