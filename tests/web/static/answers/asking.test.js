import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY } from "../../../../src/headlight/web/static/answers/address.js";
import {
  askedOf,
  missing,
  readLines,
} from "../../../../src/headlight/web/static/answers/asking.js";

const SOURCES = [
  { name: "A", text: "one" },
  { name: "B", text: "  " },
];
const STATE = { ...EMPTY, question: "Who?", sources: SOURCES };

test("a question is a chat for models that read chats, and empty sources are left out", () => {
  const chat = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "" },
  ];
  const asked = askedOf({ ...STATE, chat }, { name: "llm", chats: true });
  assert.deepEqual(asked.prompt, [chat[0], { role: "user", content: "Who?" }]);
  assert.deepEqual(asked.sources, [SOURCES[0]]);
  assert.equal(askedOf(STATE, { name: "gpt", chats: false }).prompt, "Who?");
});

test("what is missing is said", () => {
  assert.equal(missing(STATE), "");
  assert.equal(missing({ ...STATE, question: " " }), "Write a question first.");
  assert.match(missing({ ...STATE, sources: [{ name: " ", text: "one" }] }), /every source a name/);
  assert.match(missing({ ...STATE, sources: [SOURCES[0], SOURCES[0]] }), /named “A”/);
});

/** @param {string[]} chunks */
const stream = (chunks) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

test("lines are heard as they arrive, however they are cut", async () => {
  /** @type {object[]} */
  const heard = [];
  const last = await readLines(stream(['{"answer":"é', 'a"}\n{"ans', 'wer":"b"}\n']), (line) =>
    heard.push(line),
  );
  assert.deepEqual(heard, [{ answer: "éa" }, { answer: "b" }]);
  assert.deepEqual(last, { answer: "b" });
});

test("an error on the way is the sentence of the server", async () => {
  const body = stream(['{"answer":"a"}\n{"error":"it broke.","kind":"Refusal"}\n']);
  await assert.rejects(
    readLines(body, () => {}),
    /It broke\./,
  );
});
