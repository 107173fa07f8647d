import assert from "node:assert/strict";
import { test } from "node:test";
import {
  citationsOf,
  columnsOf,
  joined,
  ownShare,
  positiveShares,
  readScores,
  rowsOf,
  saidScores,
  saidUnits,
  sharesOf,
  textOf,
} from "../../../../src/headlight/web/static/answers/adding.js";
import { explained, place } from "./facts.js";

test("scores of the prompt are added up by word and by source, for what is pointed at", () => {
  const answer = explained();
  const all = rowsOf(answer, null);
  assert.deepEqual(all, [0, 1]);
  assert.deepEqual(readScores(answer, "word", all), [9, 5, -1]);
  assert.deepEqual(readScores(answer, "source", all), [6, -1]);
  const second = rowsOf(answer, place("said", "sentence", 1));
  assert.deepEqual(readScores(answer, "word", second), [5, 1, -2]);
  const word = rowsOf(answer, place("said", "word", 0));
  assert.deepEqual(readScores(answer, "word", word), [1, 3, 0]);
});

test("a word and a source of the prompt have their tokens", () => {
  assert.deepEqual(columnsOf(explained(), place("read", "word", 1)), [1, 2]);
  assert.deepEqual(columnsOf(explained(), place("read", "source", 0)), [1, 2, 3]);
});

test("the scale is set by what the server says is in it", () => {
  assert.deepEqual(sharesOf([9, 4, -2], [false, true, true]), [2.25, 1, -0.5]);
  assert.deepEqual(sharesOf([2, -4]), [0.5, -1]);
  assert.deepEqual(sharesOf([0, 0]), [0, 0]);
});

test("sources share what is positive, and those that carry little are not cited", () => {
  assert.deepEqual(positiveShares([3, -2, 1]), [0.75, 0, 0.25]);
  assert.deepEqual(positiveShares([-1]), [0]);
  assert.deepEqual(citationsOf(explained(), 0), [
    { source: 0, share: 0.8 },
    { source: 1, share: 0.2 },
  ]);
  assert.deepEqual(citationsOf(explained(), 1), [{ source: 0, share: 1 }]);
});

test("the answer's own words hold a share of all magnitudes", () => {
  assert.equal(ownShare(explained(), [1]), 2 / 11);
  assert.equal(ownShare({ ...explained(), scores: [[0, 0, 0, 0, 0, 0]] }, [0]), 0);
});

test("an answer is pointed at by word, or by sentence where no word was explained", () => {
  const answer = explained();
  const words = saidUnits(answer, "words");
  assert.deepEqual(
    words.map(({ place: { kind, number }, text }) => [kind, number, text]),
    [
      ["word", 0, "Yes"],
      ["sentence", 0, "."],
      ["sentence", 1, "Now"],
    ],
  );
  assert.equal(words[0].probability, Math.exp(-1));
  const whole = saidUnits(answer, "sentences");
  assert.deepEqual(
    whole.map(({ text, before }) => [text, before]),
    [
      ["Yes.", ""],
      ["Now", " "],
    ],
  );
  assert.deepEqual(saidScores(answer, whole, [1, 2]), [4, 1]);
  assert.deepEqual(saidScores(answer, words, [1, 2]), [3, 0, 0]);
});

test("more words are joined to what is known", () => {
  const answer = explained();
  const more = {
    parts: [{ word: 2, sentence: 1, log_probability: -2 }],
    scores: [[0, 0, 0, 0, 0, 0]],
  };
  const whole = joined(answer, more);
  assert.equal(whole.parts.length, 4);
  assert.equal(whole.words, answer.words);
  assert.deepEqual(rowsOf(whole, place("said", "word", 2)), [3]);
});

test("every place has a text", () => {
  const answer = explained();
  assert.equal(textOf(answer, place("said", "sentence", 0)), "Yes.");
  assert.equal(textOf(answer, place("said", "word", 2)), "Now");
  assert.equal(textOf(answer, place("read", "word", 1)), "door");
  assert.equal(textOf(answer, place("read", "source", 1)), "Guide");
});
