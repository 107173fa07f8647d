import { ApiError, ask } from "./api.js";
import { byId, element, fill } from "./dom.js";

/** @type {Map<string, string>} */
const problems = new Map();
let busy = 0;

function showProblems() {
  const sentences = [...new Set(problems.values())];
  byId("error").hidden = sentences.length === 0;
  fill(
    byId("error"),
    sentences.map((sentence) => element("p", { dir: "auto" }, sentence)),
  );
}

/**
 * Show what is wrong on a channel; an empty sentence removes the message.
 * @param {string} channel
 * @param {string} sentence
 */
export function say(channel, sentence) {
  if (sentence) problems.set(channel, sentence);
  else if (!problems.delete(channel)) return;
  showProblems();
}

/** @param {number} step */
function count(step) {
  busy += step;
  document.documentElement.classList.toggle("busy", busy > 0);
  byId("answer").setAttribute("aria-busy", String(busy > 0));
}

/**
 * Ask the server, and show what went wrong. Returns undefined if a newer question replaced this one, and null
 * if it could not be answered.
 * @template [T=any]
 * @param {string} path
 * @param {object} [body] none for a GET
 * @param {string} [channel]
 * @param {(response: Response) => Promise<T>} [read]
 * @returns {Promise<T | null | undefined>}
 */
export async function askKindly(path, body, channel = path, read = undefined) {
  count(1);
  try {
    const answer = await ask(path, body, channel, read);
    say(channel, "");
    return answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    if (!(error instanceof ApiError)) throw error;
    say(channel, error.message);
    return null;
  } finally {
    count(-1);
  }
}
