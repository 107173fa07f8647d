import { cancel } from "/static/api.js";
import { byId, fill } from "/static/dom.js";
import { maskOf } from "/static/mask.js";
import { askKindly, say } from "/static/notices.js";
import { QUESTION, modelOf, questionOf } from "/static/state.js";

export const MASKED = "mask_lrp";

export const EMPTY = {
  question: "",
  prediction: null,
  tokens: [],
  found: {},
  failures: {},
  pending: [],
};

// Mask-LRP answers differently for every mask; what was found is kept under both names.
const placeOf = (method, mask) => (method === MASKED ? `${method} ${mask}` : method);

export function attributionsOf(answers, state) {
  return state.methods.map((method) => answers.found[placeOf(method, state.mask)]).filter(Boolean);
}

function byCost(methods, about) {
  const isSlow = (name) => about.methods.find((method) => method.name === name)?.cost === "slow";
  return [
    ["explain", methods.filter((name) => !isSlow(name))],
    ["explain-slow", methods.filter(isSlow)],
  ];
}

function joined(known, answer, question, mask) {
  const isSame = known.question === question;
  const found = isSame ? { ...known.found } : {};
  for (const attribution of answer.attributions)
    found[placeOf(attribution.method, mask)] = attribution;
  return {
    question,
    prediction: answer.prediction,
    tokens: answer.tokens,
    found,
    failures: { ...(isSame ? known.failures : {}), ...answer.failures },
  };
}

function missingMethods(known, state, question) {
  if (known.question !== question) return state.methods;
  return state.methods.filter(
    (name) => !known.found[placeOf(name, state.mask)] && !known.failures[name],
  );
}

export function mountExplanation(page) {
  async function fetchGroup(channel, methods, question) {
    const state = page.state.get();
    const mask = maskOf(state, modelOf(page.about, state.model));
    const answer = await askKindly(
      "/api/explain",
      { ...questionOf(state), methods, mask },
      channel,
    );
    if (answer === undefined) return;
    const pending = page.answers.get().pending.filter((name) => !methods.includes(name));
    const known = page.answers.get();
    page.answers.change({
      ...(answer ? joined(known, answer, question, state.mask) : {}),
      pending,
    });
  }

  function refresh() {
    const state = page.state.get();
    const question = JSON.stringify(questionOf(state));
    const model = modelOf(page.about, state.model);
    const [, pair] = model.fields;
    const isWhole = state.text.trim() && (!pair || pair.optional || state.pair.trim());
    const surplus = tooLong(state, page.about.limits.characters);
    say("question", surplus);
    fill(
      byId("hint"),
      isWhole ? "" : `Write something in ${emptyField(state, model)} to get an answer.`,
    );
    const isReady = isWhole && !surplus;
    const pending = isReady ? missingMethods(page.answers.get(), state, question) : [];
    page.answers.change(isReady ? { pending } : EMPTY);
    for (const [channel, methods] of byCost(pending, page.about)) {
      cancel(channel);
      if (methods.length) fetchGroup(channel, methods, question);
    }
  }

  page.state.listen([...QUESTION, "methods", "mask"], refresh);
  refresh();
}

// The server counts characters, not the halves of which browsers make some of them.
function tooLong(state, most) {
  const size = [...state.text].length + [...state.pair].length;
  if (size <= most) return "";
  const written = (count) => count.toLocaleString("en");
  return `The text has ${written(size)} characters, and this page takes ${written(most)}. Shorten it.`;
}

function emptyField(state, model) {
  const field = model.fields[state.text.trim() ? 1 : 0];
  return `“${field.label}”`;
}
