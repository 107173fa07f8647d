/**
 * A passage that the model reads.
 * @typedef {object} Source
 * @property {string} name
 * @property {string} text
 */

/**
 * A message of a chat.
 * @typedef {object} Message
 * @property {string} role
 * @property {string} content
 */

/**
 * What is asked; a link restores it.
 * @typedef {object} State
 * @property {string} model
 * @property {string} question
 * @property {Source[]} sources
 * @property {Message[]} chat the messages before the question
 * @property {string} method
 * @property {number} tokens most that the answer may have
 */

export const ROLES = ["system", "user", "assistant"];
export const TOKENS = 40;

/** @type {State} */
export const EMPTY = {
  model: "",
  question: "",
  sources: [],
  chat: [],
  method: "",
  tokens: TOKENS,
};

/**
 * Two parameters that are given as often as each other, as pairs.
 * @param {URLSearchParams} query
 * @param {string} first
 * @param {string} second
 */
const pairs = (query, first, second) =>
  query.getAll(first).map((value, place) => ({ value, other: query.getAll(second)[place] ?? "" }));

/**
 * The state in an address. It stands after the #, which browsers do not send to servers.
 * @param {string} hash
 * @returns {State}
 */
export function readHash(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const tokens = Math.trunc(Number(query.get("tokens")));
  return {
    model: query.get("model") ?? "",
    question: query.get("question") ?? "",
    method: query.get("method") ?? "",
    tokens: tokens > 0 ? tokens : TOKENS,
    sources: pairs(query, "name", "source").map(({ value, other }) => ({
      name: value,
      text: other,
    })),
    chat: pairs(query, "role", "said")
      .filter(({ value }) => ROLES.includes(value))
      .map(({ value, other }) => ({ role: value, content: other })),
  };
}

/**
 * A state as the end of an address.
 * @param {State} state
 */
export function writeHash({ model, question, method, tokens, sources, chat }) {
  const query = new URLSearchParams({ model, question, method });
  if (tokens !== TOKENS) query.append("tokens", String(tokens));
  for (const { name, text } of sources) {
    query.append("name", name);
    query.append("source", text);
  }
  for (const { role, content } of chat) {
    query.append("role", role);
    query.append("said", content);
  }
  return `#${query}`;
}
