/** @import { AnswerChange, ExplainedAnswer, WrittenSoFar } from "../shared/replies.js" */
/** @import { State } from "./address.js" */
/** @import { Asked, Page } from "./page.js" */
import { ApiError, cancel } from "../shared/api.js";
import { byId, fill } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";
import { capital } from "../shared/numbers.js";
import { joined } from "./adding.js";
import { NOTHING, NOWHERE, modelOf } from "./page.js";

const TOGETHER = 6;
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

/** On a narrow screen the answer is below the question: go there. */
function showAnswer() {
  const answer = byId("answer");
  if (answer.getBoundingClientRect().top > innerHeight / 2) answer.scrollIntoView();
}

/**
 * Ask the server for an answer, then for what its sentences came from, then for the same of every word.
 * @param {Page} page
 */
export function mountAsking(page) {
  /**
   * @param {object} of which parts of the answer
   * @returns {Promise<ExplainedAnswer | null | undefined>}
   */
  async function explain(of) {
    const { asked, text: answer } = page.answers.get();
    const { method } = page.state.get();
    return askKindly("/api/answer", { ...asked, answer, method, ...of }, "explain");
  }

  /** Some words at a time: so they light up soon, and others get their turn at the server. */
  async function explainWords() {
    const known = page.answers.get().explained;
    const total = known?.said.length ?? 0;
    for (let first = 0; first < total; first += TOGETHER) {
      page.answers.change({
        doing: `Finding out what each word came from: ${first} of ${total} …`,
      });
      const more = await explain({ of: "words", first, count: TOGETHER });
      const { explained } = page.answers.get();
      if (!more || !explained) return more;
      page.answers.change({ explained: joined(explained, more) });
    }
    return known;
  }

  async function explainAll() {
    page.answers.change({ doing: "Finding out what each sentence came from …" });
    const whole = await explain({ of: "sentences" });
    if (whole === undefined) return;
    page.answers.change({ explained: whole });
    const { method } = page.state.get();
    const facts = page.about.get().methods.find(({ name }) => name === method);
    if (whole && facts?.cost !== "slow" && (await explainWords()) === undefined) return;
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

  async function begin() {
    const lacking = missing(page.state.get());
    fill(byId("hint"), lacking);
    if (lacking) return;
    CHANNELS.forEach(cancel);
    for (const channel of CHANNELS) say(channel, "");
    const asked = askedOf(page.state.get(), modelOf(page));
    page.pointing.change(NOWHERE);
    page.answers.change({ ...NOTHING, asked, doing: "The model is reading …" });
    showAnswer();
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
    begin();
  });
  page.state.listen(["method"], () => {
    if (!page.answers.get().isWritten) return;
    cancel("explain");
    page.answers.change({ explained: null });
    explainAll();
  });
  page.pointing.listen(["without"], takeAway);
}
