/** @import { Attributed, Decided, Explanation, MethodFacts, ModelFacts } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
/** @import { State } from "./state.js" */
import { cancel } from "../shared/api.js";
import { byId, fill } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";
import { MASKED, maskOf } from "./mask.js";
import { modelOf } from "./page.js";
import { QUESTION, questionKey, questionOf } from "./state.js";

/**
 * The answers to a question so far.
 * @typedef {object} Answers
 * @property {string} question
 * @property {Decided | null} prediction
 * @property {string[]} tokens
 * @property {Record<string, Attributed>} found by method (and head mask, for Mask-LRP)
 * @property {Record<string, string>} failures
 * @property {string[]} pending methods whose answers have not arrived
 */

/** @type {Answers} */
export const NOTHING = {
  question: "",
  prediction: null,
  tokens: [],
  found: {},
  failures: {},
  pending: [],
};

/**
 * The key of an answer: Mask-LRP gives another answer for every mask, so the mask is part of its key.
 * @param {string} method
 * @param {string} mask
 */
const placeOf = (method, mask) => (method === MASKED ? `${method} ${mask}` : method);

/**
 * The attributions of the chosen methods that have arrived.
 * @param {Pick<Answers, "found">} answers
 * @param {Pick<State, "methods" | "mask">} state
 */
export function attributionsOf(answers, state) {
  return state.methods.flatMap((method) => answers.found[placeOf(method, state.mask)] ?? []);
}

/**
 * Methods by channel: slow ones must not keep the others waiting.
 * @param {string[]} names
 * @param {MethodFacts[]} methods
 * @returns {[string, string[]][]}
 */
export function byCost(names, methods) {
  const slow = methods.filter(({ cost }) => cost === "slow").map(({ name }) => name);
  return [
    ["explain", names.filter((name) => !slow.includes(name))],
    ["explain-slow", names.filter((name) => slow.includes(name))],
  ];
}

/**
 * The answers after a reply has arrived; answers to another question are dropped.
 * @param {Answers} known
 * @param {Explanation} reply
 * @param {string} question
 * @param {string} mask
 * @returns {Omit<Answers, "pending">}
 */
export function joined(known, reply, question, mask) {
  const before = known.question === question ? known : NOTHING;
  const fresh = reply.attributions.map((each) => [placeOf(each.method, mask), each]);
  return {
    question,
    prediction: reply.prediction,
    tokens: reply.tokens,
    found: { ...before.found, ...Object.fromEntries(fresh) },
    failures: { ...before.failures, ...reply.failures },
  };
}

/**
 * The methods that have not answered a question yet.
 * @param {Answers} known
 * @param {Pick<State, "methods" | "mask">} state
 * @param {string} question
 */
export function missingMethods(known, state, question) {
  if (known.question !== question) return state.methods;
  return state.methods.filter(
    (name) => !known.found[placeOf(name, state.mask)] && !known.failures[name],
  );
}

/**
 * The sentence for a text beyond the limit. The server counts characters; a browser's `length` counts some
 * characters twice (as two UTF-16 units).
 * @param {Pick<State, "text" | "pair">} state
 * @param {number} most
 */
export function tooLong(state, most) {
  const size = [...state.text].length + [...state.pair].length;
  if (size <= most) return "";
  /** @param {number} count */
  const counted = (count) => count.toLocaleString("en");
  return `The text has ${counted(size)} characters; this page takes up to ${counted(most)}. Shorten it.`;
}

/**
 * The hint while a text is missing.
 * @param {Pick<State, "text" | "pair">} state
 * @param {Pick<ModelFacts, "fields">} model
 */
export function missingText(state, { fields }) {
  const texts = [state.text, state.pair];
  const empty = fields.find((field, place) => !field.optional && !texts[place].trim());
  return empty ? `Write something in “${empty.label}” to get an answer.` : "";
}

/**
 * Ask the server for missing answers whenever the question changes.
 * @param {Page} page
 */
export function mountAnswers(page) {
  /**
   * @param {string} channel
   * @param {string[]} methods
   * @param {string} question
   */
  async function fetchGroup(channel, methods, question) {
    const state = page.state.get();
    const mask = maskOf(state, modelOf(page));
    const body = { ...questionOf(state), methods, mask };
    /** @type {Explanation | null | undefined} */
    const reply = await askKindly("/api/explain", body, channel);
    if (reply === undefined) return;
    const known = page.answers.get();
    page.answers.change({
      ...(reply ? joined(known, reply, question, state.mask) : {}),
      pending: known.pending.filter((name) => !methods.includes(name)),
    });
  }

  function refresh() {
    const [state, about] = [page.state.get(), page.about.get()];
    const question = questionKey(state);
    const surplus = tooLong(state, about.limits.characters);
    const missing = missingText(state, modelOf(page));
    say("question", surplus);
    fill(byId("hint"), missing);
    const isReady = !missing && !surplus;
    const pending = isReady ? missingMethods(page.answers.get(), state, question) : [];
    page.answers.change(isReady ? { pending } : NOTHING);
    for (const [channel, methods] of byCost(pending, about.methods)) {
      cancel(channel);
      if (methods.length) fetchGroup(channel, methods, question);
    }
  }

  page.state.listen([...QUESTION, "methods", "mask"], refresh);
  refresh();
}
