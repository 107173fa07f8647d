/** @import { About, ModelFacts } from "../shared/replies.js" */

/**
 * What a link restores. It is stored after the # of the address, which is not sent to the server and has
 * room for long texts; a query (?text=…) is understood too.
 * @typedef {object} State
 * @property {string} model
 * @property {string} text
 * @property {string} pair
 * @property {string} target
 * @property {string} contrast
 * @property {string[]} methods
 * @property {"words" | "tokens"} unit
 * @property {boolean} difference
 * @property {string} layerMethod
 * @property {number} layer 0 is all layers together
 * @property {string} mixMethod
 * @property {number} mixLayer 0 is the last
 * @property {string} mask in hexadecimal digits; empty for the model's mask
 * @property {string} off the heads that are switched off, in hexadecimal digits; empty for none
 * @property {number[]} hidden positions of tokens
 * @property {string} change
 * @property {string[]} view the panels that are open
 * @property {number} generated how many tokens to generate; 0 until the user asks
 * @property {string} generateMethod
 * @property {string} continuation
 */

/**
 * The parts of a state that a link has, before they are fitted to a model.
 * @typedef {Partial<Omit<State, "unit">> & { unit?: string }} Given
 */

/**
 * A question as the API takes it.
 * @typedef {object} QuestionBody
 * @property {string} model
 * @property {string} text
 * @property {string | null} pair
 * @property {string | null} target
 * @property {string | null} contrast
 */

/** @type {State} */
const DEFAULTS = {
  model: "",
  text: "",
  pair: "",
  target: "",
  contrast: "",
  methods: [],
  unit: "words",
  difference: false,
  layerMethod: "",
  layer: 0,
  mixMethod: "",
  mixLayer: 0,
  mask: "",
  off: "",
  hidden: [],
  change: "",
  view: [],
  generated: 0,
  generateMethod: "",
  continuation: "",
};
const KEYS = /** @type {(keyof State)[]} */ (Object.keys(DEFAULTS));
/** @type {(keyof State)[]} */
const NUMBERED = ["hidden"];
// Shown layer by layer if no chosen method has layers.
const USUAL_LAYERED = "attcat";

/** @type {("model" | "text" | "pair" | "target" | "contrast")[]} */
export const QUESTION = ["model", "text", "pair", "target", "contrast"];

/**
 * @param {keyof State} key
 * @param {string} text
 */
function parsed(key, text) {
  const usual = DEFAULTS[key];
  if (Array.isArray(usual)) {
    const parts = text.split(" ").filter(Boolean);
    return NUMBERED.includes(key) ? parts.map(Number).filter(Number.isInteger) : parts;
  }
  if (typeof usual === "boolean") return text === "1";
  if (typeof usual === "number") return Math.max(0, Math.trunc(Number(text)) || 0);
  return text;
}

/** @param {State[keyof State]} value */
function written(value) {
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "boolean") return value ? "1" : "";
  return String(value);
}

/**
 * The part of a state that an address has.
 * @param {string} address the part after ? or #
 * @returns {Given}
 */
export function readQuery(address) {
  const query = new URLSearchParams(address.replace(/^[?#]/, ""));
  const given = KEYS.filter((key) => query.has(key));
  return Object.fromEntries(given.map((key) => [key, parsed(key, query.getAll(key).at(-1) ?? "")]));
}

/**
 * A state as the end of an address; defaults are left out, except the text.
 * @param {State} state
 */
export function writeQuery(state) {
  const query = new URLSearchParams();
  for (const key of KEYS) {
    if (written(state[key]) !== written(DEFAULTS[key]) || key === "text")
      query.set(key, written(state[key]));
  }
  return `#${query}`;
}

/** @returns {Given} */
export const readAddress = () => ({ ...readQuery(location.search), ...readQuery(location.hash) });

/**
 * The chosen methods that a model has, or its default method.
 * @param {string[]} asked
 * @param {ModelFacts} model
 * @param {number} most
 */
function fittingMethods(asked, model, most) {
  /** @param {string[]} names */
  const fitting = (names) => names.filter((name) => model.methods.includes(name));
  const chosen = fitting(asked).slice(0, most);
  if (chosen.length) return chosen;
  const usual = fitting([model.default_method]);
  return usual.length ? usual : model.methods.slice(0, 1);
}

/**
 * @param {string | undefined} value
 * @param {string[]} values
 * @param {string} usual
 */
export const oneOf = (value, values, usual) =>
  value !== undefined && values.includes(value) ? value : usual;

/**
 * A label that the model has; any text if it has no list of labels.
 * @param {string} value
 * @param {ModelFacts} model
 */
function fittingLabel(value, model) {
  if (model.labels) return oneOf(value, model.labels, "");
  return model.target_hint ? value : "";
}

/**
 * The method shown layer by layer by default: one of the chosen methods, if it has layers.
 * @param {string[]} methods
 * @param {ModelFacts} model
 */
function usualLayered(methods, { layered }) {
  return [...methods, USUAL_LAYERED, ...layered].find((name) => layered.includes(name)) ?? "";
}

/**
 * A complete state from what a link asks for, fitted to a model that the server has.
 * @param {Given} given
 * @param {About} about
 * @returns {State}
 */
export function restored(given, about) {
  const model = about.models.find(({ name }) => name === given.model) ?? about.models[0];
  const example = model.examples[0] ?? { text: "", pair: null };
  const methods = fittingMethods(given.methods ?? [], model, about.limits.methods);
  const pair = given.text === undefined ? example.pair : given.pair;
  return {
    ...DEFAULTS,
    ...given,
    model: model.name,
    text: given.text ?? example.text,
    pair: model.fields.length < 2 ? "" : (pair ?? ""),
    target: fittingLabel(given.target ?? "", model),
    contrast: fittingLabel(given.contrast ?? "", model),
    methods,
    unit: given.unit === "tokens" ? "tokens" : "words",
    layerMethod: oneOf(given.layerMethod, model.layered, usualLayered(methods, model)),
    change: oneOf(given.change, model.changes, model.changes[0] ?? ""),
  };
}

/**
 * The question of a state, as a request body.
 * @param {Pick<Given, "model" | "text" | "pair" | "target" | "contrast">} state
 * @returns {QuestionBody}
 */
export function questionOf(state) {
  return {
    model: state.model ?? "",
    text: state.text ?? "",
    pair: state.pair || null,
    target: state.target || null,
    contrast: state.contrast || null,
  };
}

/**
 * The question of a state as one string, for comparisons.
 * @param {Pick<Given, "model" | "text" | "pair" | "target" | "contrast">} state
 */
export const questionKey = (state) => JSON.stringify(questionOf(state));
