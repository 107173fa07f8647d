/** @import { About, AnswerChange, ExplainedAnswer, ModelFacts } from "../shared/replies.js" */
/** @import { Store } from "../shared/store.js" */
/** @import { Place, Unit } from "./adding.js" */
/** @import { Message, Source, State } from "./address.js" */
import { createStore } from "../shared/store.js";
import { EXAMPLES } from "./examples.js";

/**
 * A question as the server takes it.
 * @typedef {object} Asked
 * @property {string} model
 * @property {string | Message[]} prompt
 * @property {Source[]} sources
 */

/**
 * The answers of the server.
 * @typedef {object} Answers
 * @property {Asked | null} asked the question that they belong to
 * @property {string} text the answer, as far as it is written
 * @property {boolean} isWritten whether it is whole
 * @property {ExplainedAnswer | null} explained
 * @property {AnswerChange | null} change what taking sources away has changed
 * @property {string} doing what is awaited, in words
 */

/**
 * What is pointed at.
 * @typedef {object} Pointing
 * @property {Place | null} pinned by a click; stays until another one
 * @property {Place | null} hovered by the mouse or the focus
 * @property {Unit} unit what of the answer can be pointed at
 * @property {string[]} without the sources that are taken away
 */

/**
 * What all parts of the page for answers share.
 * @typedef {object} Page
 * @property {Store<About>} about
 * @property {Store<State>} state
 * @property {Store<Answers>} answers
 * @property {Store<Pointing>} pointing
 */

/** @type {Answers} */
export const NOTHING = {
  asked: null,
  text: "",
  isWritten: false,
  explained: null,
  change: null,
  doing: "",
};

/** @type {Pick<Pointing, "pinned" | "hovered" | "without">} */
export const NOWHERE = { pinned: null, hovered: null, without: [] };

const USUAL = "llm";
const MASKED = "mask_lrp";

/**
 * The models that write text.
 * @param {Pick<About, "models">} about
 */
export const writersOf = ({ models }) => models.filter(({ generates }) => generates);

/**
 * The methods that can explain the answers of a model.
 * @param {Pick<ModelFacts, "methods" | "has_mask">} model
 */
export const methodsOf = ({ methods, has_mask: hasMask }) =>
  methods.filter((name) => name !== MASKED || hasMask);

/**
 * What a link asks for, with a model and a method that the server has; an example if it asks for nothing.
 * @param {State} given
 * @param {Pick<About, "models">} about which has a model that writes
 * @returns {State}
 */
export function restored(given, about) {
  const writers = writersOf(about);
  const [model] = [given.model, USUAL].flatMap((name) =>
    writers.filter((writer) => writer.name === name),
  );
  const { name, default_method: usual, ...facts } = model ?? writers[0];
  const method = methodsOf(facts).includes(given.method) ? given.method : usual;
  const isEmpty = !given.question && !given.sources.length && !given.chat.length;
  const { question, sources, chat } = isEmpty ? EXAMPLES[0] : given;
  return { ...given, model: name, method, question, sources, chat };
}

/**
 * @param {About} about
 * @param {State} given what a link asks for
 * @returns {Page}
 */
export function createPage(about, given) {
  /** @type {Pointing} */
  const pointing = { ...NOWHERE, unit: "words" };
  return {
    about: createStore(about),
    state: createStore(restored(given, about)),
    answers: createStore(NOTHING),
    pointing: createStore(pointing),
  };
}

/**
 * The chosen model.
 * @param {Page} page
 */
export function modelOf(page) {
  const { model } = page.state.get();
  const writers = writersOf(page.about.get());
  return writers.find(({ name }) => name === model) ?? writers[0];
}

/**
 * The place that is shown: what was clicked, or else what the mouse or the focus is on.
 * @param {Pick<Pointing, "pinned" | "hovered">} pointing
 */
export const shownPlace = ({ pinned, hovered }) => pinned ?? hovered;
