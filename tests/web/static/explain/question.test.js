import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isExample,
  movedTo,
  opening,
} from "../../../../src/headlight/web/static/explain/question.js";
import { restored } from "../../../../src/headlight/web/static/explain/state.js";
import { about, model } from "../facts.js";

test("what someone wrote goes along to another model, an example does not", () => {
  const next = model({ name: "other" });
  const state = { ...restored({ text: "mine" }, about()), mask: "ff", hidden: [1], generated: 3 };
  const moved = movedTo(state, model(), next);
  assert.deepEqual(
    [moved.model, moved.text, moved.mask, moved.hidden, moved.generated],
    ["other", "mine", "", [], 0],
  );
  assert.equal(movedTo(restored({}, about()), model(), next).text, undefined);
  assert.equal(isExample(model(), { text: "a charming film", pair: "" }), true);
});

test("an example's button shows its first words", () => {
  assert.equal(opening("one two three four five"), "one two three four …");
  assert.equal(opening("one two"), "one two");
});
