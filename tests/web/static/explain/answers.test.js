import assert from "node:assert/strict";
import { test } from "node:test";
import {
  NOTHING,
  attributionsOf,
  byCost,
  joined,
  missingMethods,
  missingText,
  tooLong,
} from "../../../../src/headlight/web/static/explain/answers.js";
import { about, attributed, explanation, model } from "../facts.js";

test("slow methods are asked for on their own channel", () => {
  assert.deepEqual(byCost(["lime", "attcat"], about().methods), [
    ["explain", ["attcat"]],
    ["explain-slow", ["lime"]],
  ]);
});

test("replies to one question come together, those to another are forgotten", () => {
  const first = { ...joined(NOTHING, explanation(), "q", ""), pending: [] };
  const reply = explanation({
    attributions: [attributed("rollout")],
    failures: { lime: "too long." },
  });
  const both = { ...joined(first, reply, "q", ""), pending: [] };
  assert.deepEqual(Object.keys(both.found), ["attcat", "rollout"]);
  assert.deepEqual(both.failures, { lime: "too long." });
  assert.deepEqual(Object.keys(joined(both, reply, "other", "").found), ["rollout"]);
  const methods = ["attcat", "lime", "gae"];
  assert.deepEqual(missingMethods(both, { methods, mask: "" }, "q"), ["gae"]);
  assert.deepEqual(missingMethods(both, { methods, mask: "" }, "other"), methods);
});

test("Mask-LRP is asked again for every mask", () => {
  const reply = explanation({ attributions: [attributed("mask_lrp")] });
  const known = { ...joined(NOTHING, reply, "q", "ff"), pending: [] };
  const methods = ["mask_lrp"];
  assert.deepEqual(missingMethods(known, { methods, mask: "ff" }, "q"), []);
  assert.deepEqual(missingMethods(known, { methods, mask: "f0" }, "q"), methods);
  assert.equal(attributionsOf(known, { methods, mask: "ff" }).length, 1);
  assert.equal(attributionsOf(known, { methods, mask: "f0" }).length, 0);
});

test("a text is counted in characters, both texts of a pair together", () => {
  assert.equal(tooLong({ text: "😀".repeat(10), pair: "" }, 10), "");
  assert.equal(
    tooLong({ text: "a".repeat(1000), pair: "b" }, 1000),
    "The text has 1,001 characters; this page takes up to 1,000. Shorten it.",
  );
});

test("the field that is empty is named", () => {
  const fields = [
    { name: /** @type {const} */ ("text"), label: "Question", optional: false },
    { name: /** @type {const} */ ("pair"), label: "Context", optional: false },
  ];
  const pairs = model({ fields });
  assert.equal(
    missingText({ text: " ", pair: "" }, pairs),
    "Write something in “Question” to get an answer.",
  );
  assert.equal(
    missingText({ text: "who?", pair: "\n" }, pairs),
    "Write something in “Context” to get an answer.",
  );
  assert.equal(missingText({ text: "who?", pair: "she" }, pairs), "");
  const open = model({ fields: [fields[0], { ...fields[1], optional: true }] });
  assert.equal(missingText({ text: "a", pair: "" }, open), "");
});
