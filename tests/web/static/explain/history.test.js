import assert from "node:assert/strict";
import { test } from "node:test";
import { parsed, recorded } from "../../../../src/headlight/web/static/explain/history.js";

/**
 * @param {string} text
 * @param {number} burst
 * @param {string} [session]
 */
const entry = (text, burst, session = "now") => ({
  query: `#model=sentiment&text=${text}`,
  text,
  model: "sentiment",
  said: "positive",
  burst,
  session,
});

/** @param {{ text: string }[]} entries */
const texts = (entries) => entries.map(({ text }) => text);

test("the newest comes first, and no more than twelve are kept", () => {
  /** @type {ReturnType<typeof entry>[]} */
  let kept = [];
  for (let place = 0; place < 15; place += 1) kept = recorded(kept, entry(`text${place}`, place));
  assert.equal(kept.length, 12);
  assert.deepEqual(texts(kept).slice(0, 2), ["text14", "text13"]);
});

test("while someone is typing the newest grows", () => {
  const typed = recorded(recorded([], entry("a", 1)), entry("ab", 1));
  assert.deepEqual(texts(typed), ["ab"]);
  assert.deepEqual(texts(recorded(typed, entry("c", 2))), ["c", "ab"]);
  assert.deepEqual(texts(recorded(typed, entry("c", 1, "another visit"))), ["c", "ab"]);
});

test("a question is kept once, whatever else its link says", () => {
  const kept = recorded([], entry("a", 1));
  const again = { ...entry("a", 3), query: "#model=sentiment&text=a&methods=rollout" };
  assert.deepEqual(recorded(recorded(kept, entry("b", 2)), again).length, 2);
});

test("what a browser kept badly is nothing", () => {
  for (const stored of [null, "", "{", "{}", "3"]) assert.deepEqual(parsed(stored), []);
  assert.equal(parsed(JSON.stringify([entry("a", 1)])).length, 1);
});
