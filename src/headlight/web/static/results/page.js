/** @import { About, Disagreements, MeanCurves, Run } from "../shared/replies.js" */
/** @import { Store } from "../shared/store.js" */
/** @import { State } from "./address.js" */
import { createStore } from "../shared/store.js";

/**
 * The answers of the server; null until they arrive.
 * @typedef {object} Answers
 * @property {Run | null} run
 * @property {MeanCurves | null} curves
 * @property {Disagreements | null} examples
 */

/**
 * What all parts of the results page share.
 * @typedef {object} Page
 * @property {About} about what the server offers
 * @property {Store<State>} state what is shown; a link restores it
 * @property {Store<Answers>} answers
 */

/**
 * @param {About} about
 * @param {State} given what a link asks for
 * @returns {Page}
 */
export function createPage(about, given) {
  const run = about.runs.includes(given.run) ? given.run : (about.runs[0] ?? "");
  /** @type {Answers} */
  const answers = { run: null, curves: null, examples: null };
  return { about, state: createStore({ ...given, run }), answers: createStore(answers) };
}
