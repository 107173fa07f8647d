import assert from "node:assert/strict";
import { test } from "node:test";
import {
  questionKey,
  questionOf,
  readQuery,
  restored,
  writeQuery,
} from "../../../../src/headlight/web/static/explain/state.js";
import { about, model } from "../facts.js";

test("an address is read by the kinds of its parts, and what is unknown is left out", () => {
  const given = readQuery("#text=a+film&hidden=1+x+3&difference=1&layer=2.7&view=heads&evil=1");
  assert.deepEqual(given, {
    text: "a film",
    hidden: [1, 3],
    difference: true,
    layer: 2,
    view: ["heads"],
  });
  assert.deepEqual(readQuery("?layer=-4&mixLayer=many"), { layer: 0, mixLayer: 0 });
});

test("a link brings the state back, whatever the text is", () => {
  const text = "100 % & more = #1 ω\n 😀";
  const state = restored({ text, methods: ["rollout", "attcat"], hidden: [2, 5] }, about());
  assert.deepEqual(restored(readQuery(writeQuery(state)), about()), state);
});

test("what is as usual is not written, but for an empty text", () => {
  const state = restored({ text: "" }, about());
  assert.equal(
    writeQuery({ ...state, change: "" }),
    "#model=sentiment&text=&methods=attcat&layerMethod=attcat",
  );
});

test("without a text there is the first example", () => {
  assert.equal(restored({}, about()).text, "a charming film");
  assert.equal(restored({ text: "" }, about()).text, "");
  const pairs = model({
    fields: [
      { name: "text", label: "Question", optional: false },
      { name: "pair", label: "Context", optional: false },
    ],
    examples: [{ text: "who?", pair: "she." }],
  });
  assert.equal(restored({}, about({ models: [pairs] })).pair, "she.");
  assert.equal(restored({ text: "what?" }, about({ models: [pairs] })).pair, "");
  assert.equal(restored({ text: "what?", pair: "it" }, about()).pair, "");
});

test("what a model does not have is replaced by what it has", () => {
  const state = restored(
    { model: "gone", methods: ["none"], target: "sad", change: "explode", layerMethod: "gae" },
    about(),
  );
  assert.equal(state.model, "sentiment");
  assert.deepEqual(state.methods, ["attcat"]);
  assert.equal(state.target, "");
  assert.equal(state.change, "delete");
  assert.equal(state.layerMethod, "attcat");
  const strange = model({ default_method: "none", layered: ["lime"] });
  const fitted = restored({}, about({ models: [strange] }));
  assert.deepEqual([fitted.methods, fitted.layerMethod], [["attcat"], "lime"]);
});

test("no more methods are asked for than the server compares", () => {
  const methods = ["lime", "mask_lrp", "rollout", "attcat"];
  assert.deepEqual(restored({ methods }, about()).methods, methods.slice(0, 3));
});

test("a target is free where there is no list of labels", () => {
  const free = about({ models: [model({ labels: null, target_hint: "a word" })] });
  assert.equal(restored({ target: "are" }, free).target, "are");
  const none = about({ models: [model({ labels: null })] });
  assert.equal(restored({ target: "are" }, none).target, "");
});

test("an empty part of a question is null", () => {
  const question = questionOf({
    model: "sentiment",
    text: "a",
    pair: "",
    target: "",
    contrast: "x",
  });
  assert.deepEqual(question, {
    model: "sentiment",
    text: "a",
    pair: null,
    target: null,
    contrast: "x",
  });
  assert.equal(questionKey({ text: "a" }), questionKey({ text: "a", pair: "" }));
});
