import assert from "node:assert/strict";
import { test } from "node:test";
import {
  difference,
  inputPieces,
  paragraphsOf,
} from "../../../../src/headlight/web/static/shared/pieces.js";
import { SINK, SPECIAL, generated, piece } from "../facts.js";

test("a difference is of shares of each method's own sum; what is beyond the scale is cut", () => {
  const first = [piece("[CLS]", 9, SPECIAL), piece("a", 3), piece("b", -1)];
  const second = [piece("[CLS]", 0, SPECIAL), piece("a", 1), piece("b", 1)];
  const scores = difference(first, second).map(({ score }) => score);
  assert.deepEqual(scores, [3 / 4, 3 / 4 - 1 / 2, -1 / 4 - 1 / 2]);
  const shares = difference(first, second).map(({ share }) => share);
  assert.deepEqual(shares.slice(1), [0.25 / 0.75, -1]);
});

test("the server says what sets the scale: a special token may, and a first token may not", () => {
  const [only] = difference([piece("[CLS]", 2, { special: true })], [piece("[CLS]", 0)]);
  assert.equal(only.share, 1);
  const first = [piece("The", -8, SINK), piece("film", 2)];
  const [cut, film] = difference(first, [piece("The", 0, SINK), piece("film", 0)]);
  assert.deepEqual([cut.score, film.score], [-1, 1]);
});

test("equal maps differ by nothing", () => {
  const shares = difference([piece("a", 0)], [piece("a", 0)]).map(({ share }) => share);
  assert.deepEqual(shares, [0]);
});

test("the inputs of a generated token have the scale that the server sends", () => {
  const pieces = inputPieces(generated(), 1);
  assert.deepEqual(
    pieces.map(({ before, text, share, in_scale }) => [before, text, share, in_scale]),
    [
      ["", "The", 5, false],
      [" ", "keys", 0.5, true],
      [" ", "are", -1, true],
    ],
  );
  assert.equal(inputPieces(generated({ largest_by_row: [0, 0] }), 0)[1].share, 0);
  const [begin] = inputPieces(generated({ special: [true, false, false] }), 0);
  assert.equal(begin.special, true);
});

test("the second text of a pair begins a paragraph, and special tokens stay where they are", () => {
  const special = { special: true, segment: null };
  const pieces = [
    piece("[CLS]", 0, special),
    piece("a", 0),
    piece("[SEP]", 0, special),
    piece("b", 0, { segment: 1 }),
    piece("[SEP]", 0, special),
  ];
  assert.deepEqual(
    paragraphsOf(pieces).map((paragraph) => paragraph.map(({ text }) => text)),
    [
      ["[CLS]", "a", "[SEP]"],
      ["b", "[SEP]"],
    ],
  );
  assert.deepEqual(paragraphsOf([]), []);
});
