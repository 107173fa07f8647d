import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName } from "../../../../src/headlight/web/static/explain/export.js";

test("a file has the name that the server gives it", () => {
  assert.equal(fileName('attachment; filename="headlight.tex"'), "headlight.tex");
  assert.equal(fileName(null), "headlight");
});
