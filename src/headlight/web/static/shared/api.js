import { askForToken, authorisation } from "./token.js";

const MOST_TRIES = 4;
/** @type {Map<string, AbortController>} */
const running = new Map();

/** A request that the server refused; the message says why. */
export class ApiError extends Error {}

/**
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/**
 * The sentence of a refusal.
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function sentence(response) {
  try {
    const { error } = await response.json();
    if (error) return error[0].toUpperCase() + error.slice(1);
  } catch {
    // The body does not come from headlight (a proxy, perhaps), so only the status is known.
  }
  return `The server answered ${response.status}. Try again, or look at the terminal where it runs.`;
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {AbortSignal} signal
 */
function requested(path, body, signal) {
  const headers = authorisation();
  if (body === undefined) return fetch(path, { headers, signal });
  headers["Content-Type"] = "application/json";
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {AbortSignal} signal
 */
async function reached(path, body, signal) {
  try {
    return await requested(path, body, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(
      "The server does not answer. Is `headlight serve` still running? Start it and try again.",
    );
  }
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {AbortSignal} signal
 */
async function answered(path, body, signal) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await reached(path, body, signal);
    if (response.ok) return response;
    if (response.status === 429 && attempt < MOST_TRIES) {
      await pause(Number(response.headers.get("Retry-After")) || 1, signal);
    } else if (response.status === 401 && attempt < MOST_TRIES) {
      await askForToken();
    } else {
      throw new ApiError(await sentence(response));
    }
  }
}

/**
 * Cancel the running request of a channel.
 * @param {string} channel
 */
export function cancel(channel) {
  running.get(channel)?.abort();
  running.delete(channel);
}

/**
 * The answer to a question. A channel shows one answer; a newer question cancels the older one.
 * @template [T=any]
 * @param {string} path
 * @param {object} [body] none for a GET
 * @param {string} [channel]
 * @param {(response: Response) => Promise<T>} [read]
 * @returns {Promise<T>}
 */
export async function ask(path, body, channel = path, read = (response) => response.json()) {
  cancel(channel);
  const controller = new AbortController();
  running.set(channel, controller);
  try {
    return await read(await answered(path, body, controller.signal));
  } finally {
    if (running.get(channel) === controller) running.delete(channel);
  }
}
