import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY } from "../../../../src/headlight/web/static/answers/address.js";
import { EXAMPLES } from "../../../../src/headlight/web/static/answers/examples.js";
import {
  methodsOf,
  restored,
  shownPlace,
} from "../../../../src/headlight/web/static/answers/page.js";
import { legendWords } from "../../../../src/headlight/web/static/answers/pointing.js";
import { nextName, patched } from "../../../../src/headlight/web/static/answers/question.js";
import { isSamePlace, parsedPlace } from "../../../../src/headlight/web/static/answers/places.js";
import { PALETTE, about, model } from "../facts.js";
import { place } from "./facts.js";

const WRITER = model({ name: "gpt", generates: true, has_mask: false });
const SERVER = about({ models: [model(), WRITER, { ...WRITER, name: "llm" }] });

test("without a wish there is the embedded language model and an example", () => {
  const state = restored(EMPTY, SERVER);
  assert.equal(state.model, "llm");
  assert.equal(state.method, "attcat");
  assert.equal(state.question, EXAMPLES[0].question);
});

test("a wish is followed if the server can", () => {
  const given = { ...EMPTY, model: "gpt", method: "rollout", question: "Who?" };
  assert.deepEqual(restored(given, SERVER), given);
  assert.equal(restored({ ...given, model: "sentiment" }, SERVER).model, "llm");
  assert.equal(restored({ ...given, method: "mask_lrp" }, SERVER).method, "attcat");
  assert.deepEqual(methodsOf({ methods: ["mask_lrp"], has_mask: true }), ["mask_lrp"]);
});

test("a click stays, the mouse passes", () => {
  const [pinned, hovered] = [place("said", "word", 1), place("read", "word", 2)];
  assert.equal(shownPlace({ pinned, hovered }), pinned);
  assert.equal(shownPlace({ pinned: null, hovered }), hovered);
});

test("a place is read from its mark", () => {
  assert.deepEqual(parsedPlace("read source 3"), place("read", "source", 3));
  for (const mark of [undefined, "", "read", "said verse 1"]) assert.equal(parsedPlace(mark), null);
  assert.ok(isSamePlace(place("said", "word", 1), place("said", "word", 1)));
  assert.ok(!isSamePlace(place("said", "word", 1), null));
});

test("a new source has a name of its own, and a change keeps the others", () => {
  assert.equal(nextName([{ name: "Source 2" }]), "Source 3");
  assert.deepEqual(patched([{ a: 1 }, { a: 2 }], 1, { a: 3 }), [{ a: 1 }, { a: 3 }]);
});

test("the legend names the colours", () => {
  assert.match(legendWords(true, PALETTE.names), /^Blue supports the answer, dotted orange/);
  assert.match(legendWords(false, PALETTE.names), /^Purple mattered\./);
});
