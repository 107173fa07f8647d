import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY,
  readHash,
  writeHash,
} from "../../../../src/headlight/web/static/answers/address.js";

test("a link restores everything that was asked", () => {
  const state = {
    model: "llm",
    question: "Who? & why #1",
    method: "attcat",
    tokens: 12,
    sources: [
      { name: "A", text: "one\ntwo" },
      { name: "B", text: "" },
    ],
    chat: [{ role: "user", content: "<b>Hi</b>" }],
  };
  assert.deepEqual(readHash(writeHash(state)), state);
});

test("what is no state is left out", () => {
  assert.deepEqual(readHash(""), EMPTY);
  assert.deepEqual(readHash("#tokens=-3&role=king&said=so"), EMPTY);
});
