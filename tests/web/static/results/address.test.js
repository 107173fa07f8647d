import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY,
  readQuery,
  routeOf,
  writeQuery,
} from "../../../../src/headlight/web/static/results/address.js";

test("a link brings the state back", () => {
  const state = { ...EMPTY, run: "my run & more", offset: 40, difference: true, sort: "aopc" };
  assert.deepEqual(readQuery(writeQuery(state)), state);
  assert.equal(writeQuery(EMPTY), "?");
});

test("what is badly written is as if it were not there", () => {
  assert.deepEqual(readQuery("?offset=-3&all=1&evil=1"), EMPTY);
  assert.equal(readQuery("?offset=2.9").offset, 2);
});

test("the name of a run cannot lead elsewhere", () => {
  assert.equal(routeOf("a/../b", "/curves"), "/api/runs/a%2F..%2Fb/curves");
});
