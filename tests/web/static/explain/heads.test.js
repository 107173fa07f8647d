import assert from "node:assert/strict";
import { test } from "node:test";
import { maskSentence } from "../../../../src/headlight/web/static/explain/heads.js";
import { SINK, SPECIAL, attributed, piece } from "../facts.js";

test("the strongest words are named", () => {
  const mask = [[true, false]];
  assert.equal(maskSentence(mask, undefined), "1 of 2 heads are on.");
  const words = [
    piece("The", 7, SINK),
    piece("a", 0.5),
    piece("b", 1),
    piece("[CLS]", 9, SPECIAL),
    piece("c", -1),
  ];
  assert.equal(
    maskSentence(mask, attributed("mask_lrp", { words })),
    "1 of 2 heads are on. With these, Mask-LRP points to: b, a.",
  );
  assert.match(maskSentence(mask, attributed("mask_lrp")), /points to: nothing\.$/);
});
