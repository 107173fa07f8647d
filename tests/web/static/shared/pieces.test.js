import assert from "node:assert/strict";
import { test } from "node:test";
import {
  difference,
  inputPieces,
  paragraphsOf,
} from "../../../../src/headlight/web/static/shared/pieces.js";
import { piece } from "../facts.js";

test("a difference is of shares of each method's own sum, special tokens left out", () => {
  const first = [piece("[CLS]", 9, { special: true }), piece("a", 3), piece("b", -1)];
  const second = [piece("[CLS]", 0, { special: true }), piece("a", 1), piece("b", 1)];
  const scores = difference(first, second).map(({ score }) => score);
  assert.deepEqual(scores, [9 / 4, 3 / 4 - 1 / 2, -1 / 4 - 1 / 2]);
  const shares = difference(first, second).map(({ share }) => share);
  assert.deepEqual(shares.slice(1), [0.25 / 0.75, -1]);
});

test("where every token is special, all of them count", () => {
  const [only] = difference([piece("[CLS]", 2, { special: true })], [piece("[CLS]", 0)]);
  assert.equal(only.share, 1);
});

test("equal maps differ by nothing", () => {
  const shares = difference([piece("a", 0)], [piece("a", 0)]).map(({ share }) => share);
  assert.deepEqual(shares, [0]);
});

test("the first input of a generated token is not in the scale", () => {
  const pieces = inputPieces(["The", " keys", " are"], [10, 1, -2, 99]);
  assert.deepEqual(
    pieces.map(({ before, text, share }) => [before, text, share]),
    [
      ["", "The", 1],
      [" ", "keys", 0.5],
      [" ", "are", -1],
    ],
  );
  assert.equal(inputPieces(["The"], [4])[0].share, 1);
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
