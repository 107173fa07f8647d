import assert from "node:assert/strict";
import { test } from "node:test";
import {
  capital,
  number,
  percent,
  probability,
  quoted,
  short,
} from "../../../../src/headlight/web/static/shared/numbers.js";

test("scores have three digits or a power of ten, and a true minus", () => {
  assert.equal(number(0), "0");
  assert.equal(number(0.12345), "0.123");
  assert.equal(number(-0.5), "−0.500");
  assert.equal(number(12.34), "12.3");
  assert.equal(number(-1234), "−1.2e+3");
  assert.equal(number(0.00001234), "1.2e−5");
});

test("what is not there is a dash", () => {
  for (const nothing of [null, undefined, NaN]) assert.equal(number(nothing), "–");
  assert.equal(probability(null), "–");
});

test("probabilities, percents and ticks are short", () => {
  assert.equal(probability(0.987), "0.99");
  assert.equal(percent(0.126), "13 %");
  assert.equal(short(0.5), "0.5");
  assert.equal(short(-0.254), "−0.25");
});

test("labels are quoted without the space of their tokenizer", () => {
  assert.equal(quoted(" Paris"), "‘Paris’");
  assert.equal(capital("blue"), "Blue");
  assert.equal(capital(""), "");
});
