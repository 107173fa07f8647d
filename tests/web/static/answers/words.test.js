import assert from "node:assert/strict";
import { test } from "node:test";
import { saidUnits } from "../../../../src/headlight/web/static/answers/adding.js";
import {
  INVITATION,
  changeSentence,
  listed,
  perToken,
  readout,
} from "../../../../src/headlight/web/static/answers/words.js";
import { explained, place } from "./facts.js";

/**
 * @param {import("../../../../src/headlight/web/static/answers/adding.js").Place | null} where
 */
const said = (where) => readout(explained(), where, saidUnits(explained(), "words"));

test("what is pointed at is put into words", () => {
  assert.equal(said(null), INVITATION);
  assert.match(
    said(place("said", "word", 0)),
    /^“Yes” came mostly from Letter \(100 % of what the sources carry\), above all from “door”\./,
  );
  assert.equal(said(place("read", "source", 0)), "Letter carries most: “Yes”.");
  assert.equal(said(place("read", "word", 2)), "“red” supports no part of the answer.");
});

test("names are listed as people list them", () => {
  assert.equal(listed([]), "");
  assert.equal(listed(["a", "b", "c"]), "a, b and c");
});

test("a fall, a rise and no change are told", () => {
  const fallen = [{ text: "green", before: 0.9, after: 0.001 }];
  const change = { before: -1, after: -1 - Math.log(120), tokens: 4, fallen };
  assert.equal(
    changeSentence(change, ["Letter"]),
    "Without Letter, the same answer is 120 times less probable. Most of that is “green” (0.90 → below 0.01).",
  );
  assert.equal(
    changeSentence({ ...change, after: -1.01 }, ["A", "B"]),
    "Without A and B, the same answer is about as probable.",
  );
  assert.equal(
    changeSentence({ ...change, after: -0.5, fallen: [] }, ["A"]),
    "Without A, the same answer is 1.6 times as probable.",
  );
  assert.match(changeSentence({ ...change, after: -90 }, ["A"]), /more than a million times less/);
  assert.equal(perToken(-4, 4), Math.exp(-1));
});
