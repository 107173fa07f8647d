// What a link must bring back. It stands behind the # of the address, which is not sent to the server and
// may be as long as a text is; a query (?text=…) is understood too.
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
  hidden: [],
  change: "",
  view: [],
  generated: 0,
  generateMethod: "",
  continuation: "",
};
const NUMBERED = ["hidden"];
// Shown layer by layer where no chosen method has layers.
const USUAL_LAYERED = "attcat";
export const QUESTION = ["model", "text", "pair", "target", "contrast"];

function parsed(key, written) {
  const kind = DEFAULTS[key];
  if (Array.isArray(kind)) {
    const parts = written.split(" ").filter(Boolean);
    return NUMBERED.includes(key) ? parts.map(Number).filter(Number.isInteger) : parts;
  }
  if (typeof kind === "boolean") return written === "1";
  if (typeof kind === "number") return Math.max(0, Math.trunc(Number(written)) || 0);
  return written;
}

function written(value) {
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "boolean") return value ? "1" : "";
  return String(value);
}

export function readQuery(address) {
  const given = {};
  for (const [key, value] of new URLSearchParams(address.replace(/^[?#]/, ""))) {
    if (key in DEFAULTS) given[key] = parsed(key, value);
  }
  return given;
}

export function writeQuery(state) {
  const query = new URLSearchParams();
  for (const key of Object.keys(DEFAULTS)) {
    if (written(state[key]) !== written(DEFAULTS[key]) || key === "text")
      query.set(key, written(state[key]));
  }
  return `#${query}`;
}

export const readAddress = () => ({ ...readQuery(location.search), ...readQuery(location.hash) });

export const modelOf = (about, name) => about.models.find((model) => model.name === name);

function fittingMethods(given, model, about) {
  const fitting = (names) => (names ?? []).filter((name) => model.methods.includes(name));
  const chosen = fitting(given).slice(0, about.limits.methods);
  if (chosen.length) return chosen;
  const usual = fitting([model.default_method]);
  return usual.length ? usual : model.methods.slice(0, 1);
}

const oneOf = (value, values, usual) => (values.includes(value) ? value : usual);

function fittingLabel(value, model) {
  if (model.labels) return model.labels.includes(value) ? value : "";
  return model.target_hint ? (value ?? "") : "";
}

export function restored(given, about) {
  const model = modelOf(about, given.model) ?? about.models[0];
  const example = model.examples[0] ?? { text: "", pair: null };
  const methods = fittingMethods(given.methods, model, about);
  const usualLayered =
    [...methods, USUAL_LAYERED].find((name) => model.layered.includes(name)) ??
    model.layered[0] ??
    "";
  const isNew = given.text === undefined;
  return {
    ...DEFAULTS,
    ...given,
    model: model.name,
    text: isNew ? example.text : given.text,
    pair: model.fields.length < 2 ? "" : isNew ? (example.pair ?? "") : (given.pair ?? ""),
    target: fittingLabel(given.target, model),
    contrast: fittingLabel(given.contrast, model),
    methods,
    unit: given.unit === "tokens" ? "tokens" : "words",
    layerMethod: oneOf(given.layerMethod, model.layered, usualLayered),
    change: oneOf(given.change, model.changes, model.changes[0] ?? ""),
  };
}

export function questionOf(state) {
  return {
    model: state.model,
    text: state.text,
    pair: state.pair || null,
    target: state.target || null,
    contrast: state.contrast || null,
  };
}
