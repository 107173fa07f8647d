/** @import { About, Attributed, Explanation, Generated, MethodFacts, ModelFacts, PaletteFacts, Run, Shown } from "../../../src/headlight/web/static/shared/replies.js" */
// Small replies for the tests; each takes what a test wants otherwise.

/** @type {PaletteFacts} */
export const PALETTE = {
  positive: "rgb(1 2 3)",
  negative: "rgb(4 5 6)",
  unsigned: "rgb(7 8 9)",
  more: "rgb(10 11 12)",
  less: "rgb(13 14 15)",
  beyond: "rgb(16 17 18)",
  heads: { both: "rgb(7 8 9)" },
  names: {
    positive: "blue",
    negative: "orange",
    unsigned: "purple",
    more: "green",
    less: "red",
    beyond: "grey",
  },
  strongest: 0.5,
  marked: -0.25,
};

/**
 * @param {Partial<ModelFacts>} [changes]
 * @returns {ModelFacts}
 */
export const model = (changes = {}) => ({
  name: "sentiment",
  title: "positive or negative",
  task: "sequence",
  fields: [{ name: "text", label: "Text", optional: false }],
  labels: ["negative", "positive"],
  target_hint: null,
  generates: false,
  chats: false,
  layers: 2,
  heads: 3,
  has_heads: true,
  switches_heads: true,
  has_mask: true,
  methods: ["attcat", "rollout", "mask_lrp", "lime"],
  default_method: "attcat",
  layered: ["attcat", "rollout"],
  mixing: ["rollout"],
  changes: ["delete", "mask"],
  examples: [{ text: "a charming film", pair: null }],
  ...changes,
});

/**
 * @param {string} name
 * @param {Partial<MethodFacts>} [changes]
 * @returns {MethodFacts}
 */
export const method = (name, changes = {}) => ({
  name,
  summary: "Says something.",
  signed: true,
  paper: "",
  cost: "fast",
  ...changes,
});

/**
 * @param {Partial<About>} [changes]
 * @returns {About}
 */
export const about = (changes = {}) => ({
  version: "1",
  limits: { methods: 3, characters: 20 },
  models: [model()],
  loading: [],
  failed: {},
  methods: [method("attcat"), method("rollout"), method("lime", { cost: "slow" })],
  runs: [],
  palette: PALETTE,
  ...changes,
});

/**
 * @param {string} text
 * @param {number} score
 * @param {Partial<Shown>} [changes]
 * @returns {Shown}
 */
export const piece = (text, score, changes = {}) => ({
  text,
  before: " ",
  score,
  share: score,
  special: false,
  in_scale: true,
  positions: [0],
  segment: 0,
  ...changes,
});

/** What the server says of tokens outside the scale. */
export const SPECIAL = { special: true, in_scale: false };
export const SINK = { in_scale: false };

/**
 * @param {Partial<Generated>} [changes]
 * @returns {Generated}
 */
export const generated = (changes = {}) => ({
  method: "attcat",
  signed: true,
  prompt: ["The", " keys"],
  output: [" are", " here"],
  matrix: [
    [10, 2, 0],
    [10, 1, -2],
  ],
  largest: 2,
  largest_by_row: [2, 2],
  special: [false, false, false],
  in_scale: [false, true, true],
  note: "outside the scale (grey if beyond): the first token",
  ...changes,
});

/**
 * @param {string} name
 * @param {Partial<Attributed>} [changes]
 * @returns {Attributed}
 */
export const attributed = (name, changes = {}) => ({
  method: name,
  signed: true,
  notes: [],
  pieces: [],
  words: [],
  data: {},
  ...changes,
});

/**
 * @param {Partial<Explanation>} [changes]
 * @returns {Explanation}
 */
export const explanation = (changes = {}) => ({
  prediction: {
    labels: ["negative", "positive"],
    probabilities: [0.1, 0.9],
    predicted: "positive",
    explained: "positive",
    logit: 2,
    probability: 0.9,
  },
  tokens: ["a", "film"],
  attributions: [attributed("attcat")],
  failures: {},
  ...changes,
});

/**
 * @param {Partial<Run>} [changes]
 * @returns {Run}
 */
export const run = (changes = {}) => ({
  name: "small",
  model: "sentiment",
  data: "sst2",
  count: 12,
  accuracy: 0.75,
  methods: ["random", "attcat", "rollout"],
  metrics: ["aopc", "sufficiency"],
  missing: 0,
  failures: 0,
  curved: ["aopc"],
  table: [
    {
      metric: "aopc",
      better: "higher",
      cells: [cell("random", 0.1), cell("attcat", 0.3), cell("rollout", 0.2)],
    },
    { metric: "sufficiency", better: "lower", cells: [cell("attcat", 0.3), cell("rollout", 0.2)] },
  ],
  ...changes,
});

/**
 * @param {string} name
 * @param {number | null} mean
 */
export const cell = (name, mean) => ({
  method: name,
  mean,
  low: mean,
  high: mean,
  count: 12,
  best: false,
});
