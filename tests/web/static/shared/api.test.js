import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ApiError, ask } from "../../../../src/headlight/web/static/shared/api.js";

const { fetch } = globalThis;
/** @type {Map<string, string>} */
const kept = new Map();
Object.assign(globalThis, {
  sessionStorage: { getItem: (/** @type {string} */ key) => kept.get(key) ?? null },
});

afterEach(() => {
  globalThis.fetch = fetch;
  kept.clear();
});

/**
 * Answers requests with these responses, one after the other, and notes them.
 * @param {Response[]} responses
 */
function serve(...responses) {
  /** @type {[string, RequestInit | undefined][]} */
  const requests = [];
  globalThis.fetch = async (path, init) => {
    requests.push([String(path), init]);
    init?.signal?.throwIfAborted();
    return responses.shift() ?? Response.json({}, { status: 500 });
  };
  return requests;
}

test("a question is sent as JSON, with the token if there is one", async () => {
  const requests = serve(Response.json({ said: "yes" }));
  kept.set("headlight-token", "secret");
  assert.deepEqual(await ask("/api/explain", { text: "a" }), { said: "yes" });
  const [[path, init]] = requests;
  assert.equal(path, "/api/explain");
  assert.equal(init?.body, '{"text":"a"}');
  assert.deepEqual(init?.headers, {
    Authorization: "Bearer secret",
    "Content-Type": "application/json",
  });
});

test("a refusal is the server's sentence", async () => {
  serve(Response.json({ error: "the text is too long." }, { status: 413 }));
  await assert.rejects(ask("/api/explain", {}), new ApiError("The text is too long."));
  serve(new Response("<html>", { status: 502 }));
  await assert.rejects(ask("/api/explain", {}), /The server answered 502/);
});

test("a busy server is asked again", async () => {
  const busy = Response.json({}, { status: 429, headers: { "Retry-After": "0.001" } });
  const requests = serve(busy, Response.json("done"));
  assert.equal(await ask("/api/about"), "done");
  assert.equal(requests.length, 2);
});

test("a server that is gone is said to be", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("network");
  };
  await assert.rejects(ask("/api/about"), /Is `headlight serve` still running/);
});

test("a newer question on a channel ends the older one", async () => {
  globalThis.fetch = (_, init) =>
    new Promise((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      setTimeout(() => resolve(Response.json("late")), 20);
    });
  const older = ask("/api/hide", {}, "hide");
  const newer = ask("/api/hide", {}, "hide");
  await assert.rejects(older, { name: "AbortError" });
  assert.equal(await newer, "late");
});
