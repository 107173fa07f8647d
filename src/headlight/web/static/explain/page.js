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
 * @property {Store<About>} about what the server offers; models that are still loading are added later
 * @property {Store<State>} state what is asked and shown; a link restores it
 * @property {Store<Answers>} answers the answers of the server
 * @property {string} session an id of this visit
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
 * The chosen model.
 * @param {Page} page
 * @returns {ModelFacts}
 */
export function modelOf(page) {
  const { model: name } = page.state.get();
  const model = page.about.get().models.find((each) => each.name === name);
  if (!model)
    throw new Error(`the server does not have the model that the page asks for: ${name}.`);
  return model;
}

/**
 * Put the state into the address, so that a link to it shows the same.
 * @param {Page} page
 */
export function writeAddress(page) {
  history.replaceState(null, "", location.pathname + writeQuery(page.state.get()));
}
