/** @import { AnswerChange, ExplainedAnswer, WrittenSoFar } from "../shared/replies.js" */
/** @import { State } from "./address.js" */
/** @import { Asked, Page } from "./page.js" */
import { ApiError, cancel } from "../shared/api.js";
import { byId, fill } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";
import { capital } from "../shared/numbers.js";
import { NOTHING, NOWHERE, modelOf } from "./page.js";

const CHANNELS = ["write", "explain", "without"];

/**
 * A question as the server takes it: a chat if the model reads chats. Sources without text are left out.
 * @param {State} state
 * @param {{ name: string, chats: boolean }} model
 * @returns {Asked}
 */
export function askedOf({ question, sources, chat }, { name, chats }) {
  const asked = { role: "user", content: question };
  const said = chat.filter(({ content }) => content.trim());
  return {
    model: name,
    prompt: chats ? [...said, asked] : question,
    sources: sources.filter(({ text }) => text.trim()),
  };
}

/**
 * What is missing in a question, in a sentence; "" if nothing is.
 * @param {Pick<State, "question" | "sources">} state
 */
export function missing({ question, sources }) {
  if (!question.trim()) return "Write a question first.";
  const filled = sources.filter(({ text }) => text.trim());
  const names = filled.map(({ name }) => name.trim());
  if (names.includes("")) return "Give every source a name.";
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  return twice === undefined
    ? ""
    : `Two sources are named “${twice}”. Give each a name of its own.`;
}

/**
 * Read a reply line by line while it arrives; the last line is returned.
 * @template {object} T
 * @param {ReadableStream<Uint8Array>} body
 * @param {(line: T) => void} hear
 */
export async function readLines(body, hear) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** @type {T | null} */
  let last = null;
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const heard = JSON.parse(line);
      if (heard.error) throw new ApiError(capital(heard.error));
      last = heard;
      hear(heard);
    }
    if (done) return last;
  }
}

/**
 * Ask the server for an answer, then for what its sentences came from, then for the same of every word.
 * @param {Page} page
 */
export function mountAsking(page) {
  /**
   * @param {Asked} asked
   * @param {string} answer
   * @param {"sentences" | "tokens"} of
   */
  async function explain(asked, answer, of) {
    const { method } = page.state.get();
    const body = { ...asked, answer, method, of };
    /** @type {ExplainedAnswer | null | undefined} */
    const explained = await askKindly("/api/answer", body, "explain");
    if (explained) page.answers.change({ explained });
    return explained;
  }

  async function explainAll() {
    const { asked, text } = page.answers.get();
    if (!asked) return;
    page.answers.change({ doing: "Finding out what each sentence came from …" });
    const whole = await explain(asked, text, "sentences");
    if (whole === undefined) return;
    const { method } = page.state.get();
    const facts = page.about.get().methods.find(({ name }) => name === method);
    if (whole && facts?.cost !== "slow") {
      page.answers.change({ doing: "Finding out what each word came from …" });
      if ((await explain(asked, text, "tokens")) === undefined) return;
    }
    page.answers.change({ doing: "" });
  }

  /** @param {Asked} asked */
  async function write(asked) {
    const { tokens } = page.state.get();
    const most = page.about.get().limits.answer_tokens;
    const body = { ...asked, tokens: Math.min(tokens, most) };
    /** @param {WrittenSoFar} line */
    const hear = ({ answer: text, is_done: isWritten }) => page.answers.change({ text, isWritten });
    /** @param {Response} response */
    const read = async (response) => response.body && readLines(response.body, hear);
    return askKindly("/api/write", body, "write", read);
  }

  async function answer() {
    const lacking = missing(page.state.get());
    fill(byId("hint"), lacking);
    if (lacking) return;
    CHANNELS.forEach(cancel);
    for (const channel of CHANNELS) say(channel, "");
    const asked = askedOf(page.state.get(), modelOf(page));
    page.pointing.change(NOWHERE);
    page.answers.change({ ...NOTHING, asked, doing: "The model is reading …" });
    const written = await write(asked);
    if (written === undefined) return;
    if (page.answers.get().isWritten) await explainAll();
    else page.answers.change({ doing: "" });
  }

  async function takeAway() {
    const { without } = page.pointing.get();
    const { asked, text, isWritten } = page.answers.get();
    cancel("without");
    page.answers.change({ change: null });
    if (!asked || !isWritten || !without.length) return;
    const body = { ...asked, answer: text, without };
    /** @type {AnswerChange | null | undefined} */
    const change = await askKindly("/api/without", body, "without");
    if (change) page.answers.change({ change });
  }

  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    answer();
  });
  page.state.listen(["method"], () => {
    if (!page.answers.get().isWritten) return;
    cancel("explain");
    page.answers.change({ explained: null });
    explainAll();
  });
  page.pointing.listen(["without"], takeAway);
}
