/** @import { About, ModelFacts } from "../shared/replies.js" */
/** @import { Store } from "../shared/store.js" */
/** @import { Answers } from "./answers.js" */
/** @import { Given, State } from "./state.js" */
import { createStore } from "../shared/store.js";
import { NOTHING } from "./answers.js";
import { restored, writeQuery } from "./state.js";

/**
 * What all parts of the page share.
 * @typedef {object} Page
 * @property {Store<About>} about what the server has; models that are still loading come later
 * @property {Store<State>} state what is asked and shown; a link brings it back
 * @property {Store<Answers>} answers what the server answered to it
 * @property {string} session tells this visit from earlier ones
 */

/**
 * @param {About} about
 * @param {Given} given what a link asks for
 * @returns {Page}
 */
export function createPage(about, given) {
  return {
    about: createStore(about),
    state: createStore(restored(given, about)),
    answers: createStore(NOTHING),
    session: crypto.randomUUID?.() ?? String(Date.now()),
  };
}

/**
 * The model that is asked.
 * @param {Page} page
 * @returns {ModelFacts}
 */
export function modelOf(page) {
  const { model: name } = page.state.get();
  const model = page.about.get().models.find((each) => each.name === name);
  if (!model) throw new Error(`the page asks a model that the server does not have: ${name}.`);
  return model;
}

/**
 * Put the state into the address, so that its link shows the same.
 * @param {Page} page
 */
export function writeAddress(page) {
  history.replaceState(null, "", location.pathname + writeQuery(page.state.get()));
}
