/** @import { Message, Source, State } from "./address.js" */
/** @import { Example } from "./examples.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById, options, selectById } from "../shared/dom.js";
import { ROLES, TOKENS } from "./address.js";
import { EXAMPLES } from "./examples.js";
import { methodsOf, modelOf, restored, writersOf } from "./page.js";

/**
 * The list with one item changed.
 * @template T
 * @param {T[]} items
 * @param {number} place
 * @param {Partial<T>} patch
 */
export const patched = (items, place, patch) =>
  items.map((item, number) => (number === place ? { ...item, ...patch } : item));

/**
 * A name for the next source that no other has.
 * @param {Pick<Source, "name">[]} sources
 */
export function nextName(sources) {
  const names = sources.map(({ name }) => name);
  let number = sources.length + 1;
  while (names.includes(`Source ${number}`)) number += 1;
  return `Source ${number}`;
}

/**
 * A text area that tells what is written in it.
 * @param {string} label
 * @param {string} value
 * @param {(value: string) => void} hear
 */
function area(label, value, hear) {
  const look = { rows: 3, dir: "auto", spellcheck: "false", "aria-label": label };
  const node = element("textarea", look);
  node.value = value;
  node.addEventListener("input", () => hear(node.value));
  return node;
}

/**
 * @param {string} label
 * @param {() => void} click
 */
const removeButton = (label, click) =>
  element("button", { type: "button", class: "quiet", "aria-label": label, click }, "Remove");

/**
 * Set up the form: the model, the question, its sources, the chat before it, and how it is explained.
 * @param {Page} page
 */
export function mountQuestion(page) {
  const question = byId("prompt", HTMLTextAreaElement);

  /**
   * @param {Source} source
   * @param {number} place
   */
  function sourceField({ name, text }, place) {
    /** @param {Partial<Source>} patch */
    const change = (patch) =>
      page.state.change({ sources: patched(page.state.get().sources, place, patch) });
    const title = element("input", { type: "text", "aria-label": `Name of source ${place + 1}` });
    title.value = name;
    title.addEventListener("input", () => change({ name: title.value }));
    const remove = removeButton(`Remove source ${place + 1}`, () => drop("sources", place));
    return element(
      "li",
      { class: "entry" },
      element("div", { class: "entry-head" }, title, remove),
      area(`Text of source ${place + 1}`, text, (value) => change({ text: value })),
    );
  }

  /**
   * @param {Message} message
   * @param {number} place
   */
  function messageField({ role, content }, place) {
    /** @param {Partial<Message>} patch */
    const change = (patch) =>
      page.state.change({ chat: patched(page.state.get().chat, place, patch) });
    const chooser = element("select", { "aria-label": `Who says message ${place + 1}` });
    options(chooser, ROLES, role);
    chooser.addEventListener("change", () => change({ role: chooser.value }));
    const remove = removeButton(`Remove message ${place + 1}`, () => drop("chat", place));
    return element(
      "li",
      { class: "entry" },
      element("div", { class: "entry-head" }, chooser, remove),
      area(`Message ${place + 1}`, content, (value) => change({ content: value })),
    );
  }

  function showLists() {
    const { sources, chat } = page.state.get();
    fill(byId("sources"), sources.map(sourceField));
    fill(byId("chat"), chat.map(messageField));
    byId("chat-field", HTMLDetailsElement).open = chat.length > 0;
    byId("add-source", HTMLButtonElement).disabled =
      sources.length >= page.about.get().limits.sources;
  }

  /**
   * @param {"sources" | "chat"} key
   * @param {number} place
   */
  function drop(key, place) {
    page.state.change({ [key]: [...page.state.get()[key]].filter((_, n) => n !== place) });
    showLists();
    byId(key === "sources" ? "add-source" : "add-message").focus();
  }

  function addSource() {
    const { sources } = page.state.get();
    page.state.change({ sources: [...sources, { name: nextName(sources), text: "" }] });
    showLists();
    focusLast("sources");
  }

  function addMessage() {
    const { chat } = page.state.get();
    const role = chat[chat.length - 1]?.role === "user" ? "assistant" : "user";
    page.state.change({ chat: [...chat, { role, content: "" }] });
    showLists();
    focusLast("chat");
  }

  /** @param {string} id of a list */
  function focusLast(id) {
    const node = byId(id).querySelector("li:last-child textarea");
    if (node instanceof HTMLElement) node.focus();
  }

  /** @param {Example} example */
  function exampleChip(example) {
    const click = () => {
      const { question: asked, sources, chat } = example;
      page.state.change({ question: asked, sources, chat });
      showAll();
    };
    const chip = { type: "button", class: "chip", title: example.question, click };
    return element("li", {}, element("button", chip, example.title));
  }

  function showModel() {
    const model = modelOf(page);
    const names = writersOf(page.about.get()).map(({ name }) => name);
    options(selectById("model"), names, model.name);
    options(selectById("method"), methodsOf(model), page.state.get().method);
    fill(byId("model-title"), model.title);
    byId("chat-field").hidden = !model.chats;
    const fitting = EXAMPLES.filter(({ chat }) => model.chats || !chat.length);
    fill(byId("examples"), fitting.map(exampleChip));
  }

  function showAll() {
    question.value = page.state.get().question;
    inputById("tokens").value = String(page.state.get().tokens);
    showLists();
  }

  /** @param {Partial<State>} patch */
  const ask = (patch) => page.state.change(patch);
  question.addEventListener("input", () => ask({ question: question.value }));
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
      byId("ask-form", HTMLFormElement).requestSubmit();
  });
  selectById("model").addEventListener("change", () => {
    const given = { ...page.state.get(), model: selectById("model").value };
    ask(restored(given, page.about.get()));
    showModel();
  });
  selectById("method").addEventListener("change", () =>
    ask({ method: selectById("method").value }),
  );
  const counter = inputById("tokens");
  counter.max = String(page.about.get().limits.answer_tokens);
  counter.addEventListener("change", () =>
    ask({ tokens: Math.max(1, Math.trunc(Number(counter.value)) || TOKENS) }),
  );
  byId("add-source").addEventListener("click", addSource);
  byId("add-message").addEventListener("click", addMessage);
  page.about.listen(["models"], showModel);
  showModel();
  showAll();
}
