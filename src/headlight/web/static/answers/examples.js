/** @import { Message, Source } from "./address.js" */

/**
 * A question to start with.
 * @typedef {object} Example
 * @property {string} title
 * @property {string} question
 * @property {Source[]} sources
 * @property {Message[]} chat
 */

/** @type {Example[]} */
export const EXAMPLES = [
  {
    title: "Which passage has it?",
    question: "Who designed the lighthouse of Lunde?",
    sources: [
      {
        name: "Harbour notice",
        text: "From May to September the ferry to Lunde leaves the old pier at eight every morning. The crossing takes fifty minutes.",
      },
      {
        name: "Town history",
        text: "The lighthouse of Lunde was designed by Karen Holm and finished in 1871, after three ships were lost in one winter.",
      },
      {
        name: "Travel diary",
        text: "We stayed in Lunde for a week and swam every day. The bread from the bakery was the best of the whole trip.",
      },
    ],
    chat: [],
  },
  {
    title: "Two passages disagree",
    question: "What colour is the door of the mill?",
    sources: [
      { name: "Letter", text: "You will know the mill by its door, which is green." },
      { name: "Guidebook", text: "The mill stands by the river. Its door is red." },
    ],
    chat: [],
  },
  {
    title: "A chat",
    question: "And what is the capital of that country?",
    sources: [],
    chat: [
      { role: "user", content: "In which country is the Eiffel Tower?" },
      { role: "assistant", content: "The Eiffel Tower is in France." },
    ],
  },
];
