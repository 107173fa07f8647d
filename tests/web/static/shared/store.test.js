import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../../../../src/headlight/web/static/shared/store.js";

const filled = () => createStore({ text: "a", hidden: [1, 2], count: 0 });

test("a listener is called for its keys only", () => {
  const store = filled();
  /** @type {unknown[]} */
  const heard = [];
  store.listen(["text"], ({ text }, changed) => heard.push([text, changed]));
  store.change({ count: 1 });
  store.change({ text: "b", count: 2 });
  assert.deepEqual(heard, [["b", ["text", "count"]]]);
  assert.equal(store.get().count, 2);
});

test("nobody is called where nothing differs; lists are compared by their items", () => {
  const store = filled();
  let calls = 0;
  store.listen(null, () => {
    calls += 1;
  });
  const before = store.get();
  store.change({ text: "a", hidden: [1, 2] });
  assert.equal(calls, 0);
  assert.equal(store.get(), before);
  store.change({ hidden: [1] });
  store.change({ hidden: [2] });
  assert.equal(calls, 2);
});

test("what was got before stays as it was", () => {
  const store = filled();
  const before = store.get();
  store.change({ text: "b" });
  assert.equal(before.text, "a");
});
