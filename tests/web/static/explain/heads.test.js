import assert from "node:assert/strict";
import { test } from "node:test";
import {
  headName,
  maskSentence,
  switched,
} from "../../../../src/headlight/web/static/explain/heads.js";
import { SINK, SPECIAL, attributed, piece } from "../facts.js";

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
