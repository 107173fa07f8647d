import assert from "node:assert/strict";
import { test } from "node:test";
import { spoken, stepOf } from "../../../../src/headlight/web/static/shared/heatmap.js";
import { SINK, SPECIAL, piece } from "../facts.js";

/** @type {{ isSigned: boolean, meaning: [string, string] }} */
const SIGNED = { isSigned: true, meaning: ["for it", "against it"] };

test("a piece says its score, its share and its direction", () => {
  assert.equal(spoken(piece("film", 0.5), SIGNED), "film: 0.500 (50 % of the strongest), for it");
  assert.equal(
    spoken(piece("bad", -1), SIGNED),
    "bad: −1.000 (100 % of the strongest), against it",
  );
  assert.equal(
    spoken(piece(" ", 0.5), { ...SIGNED, isSigned: false }),
    "space: 0.500 (50 % of the strongest)",
  );
  assert.equal(spoken(piece("[CLS]", 0, SPECIAL), SIGNED), "[CLS]: 0");
  assert.equal(spoken(piece("The", 9, SINK), SIGNED), "The: 9.000 (beyond the scale), for it");
});

test("arrow keys follow the direction of the text", () => {
  assert.equal(stepOf("ArrowRight", false), 1);
  assert.equal(stepOf("ArrowRight", true), -1);
  assert.equal(stepOf("ArrowLeft", true), 1);
  assert.equal(stepOf("ArrowUp", true), -1);
  assert.equal(stepOf("End", false), Infinity);
  assert.equal(stepOf("a", false), undefined);
});
