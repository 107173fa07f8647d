import assert from "node:assert/strict";
import { test } from "node:test";
import { layersLink } from "../../../../src/headlight/web/static/answers/opening.js";
import { explained, place } from "./facts.js";

test("a link asks why the model chose a word after everything before it", () => {
  const found = layersLink(explained(), place("said", "word", 0), "llm");
  const query = new URLSearchParams(found?.address.slice(2));
  assert.deepEqual(Object.fromEntries(query), {
    model: "llm",
    text: "The door red😀",
    target: "Yes",
    view: "layers mixing",
  });
  assert.equal(found?.words, "Layer by layer: why “Yes” here");
});

test("what is no single choice has no link", () => {
  for (const other of [
    null,
    place("said", "sentence", 0),
    place("said", "word", 1),
    place("read", "word", 0),
  ])
    assert.equal(layersLink(explained(), other, "llm"), null);
});
