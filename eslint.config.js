import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-implicit-coercion": "error",
  "no-param-reassign": "error",
  "no-shadow": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  complexity: ["error", 12],
  "max-lines": ["error", 250],
  "max-params": ["error", 5],
  // Text of users and models is written as text: nothing on the page may be parsed as HTML or run.
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({ property })),
  ],
};

export default [
  {
    files: ["src/headlight/web/static/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules,
  },
  {
    files: ["src/headlight/web/static/shared/replies.js"],
    rules: { "max-lines": "off" },
  },
  {
    files: ["src/headlight/web/static/shared/theme.js"],
    languageOptions: { sourceType: "script" },
  },
  { files: ["tests/web/static/**/*.js"], languageOptions: { globals: globals.node }, rules },
];
