/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { questionKey, readQuery, restored, writeQuery } from "./state.js";

/**
 * An explanation that can be opened again.
 * @typedef {object} Entry
 * @property {string} query the end of its link
 * @property {string} text
 * @property {string} model
 * @property {string} said
 * @property {number} burst number of the spell of typing in one field
 * @property {string} session
 */

const PLACE = "headlight-history";
const MOST = 12;
const MOST_CHARACTERS = 4000;
const OPENING = 90;

/**
 * The entries stored in the browser; none if they cannot be read.
 * @param {string | null} stored
 * @returns {Entry[]}
 */
export function parsed(stored) {
  try {
    const kept = JSON.parse(stored ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/**
 * The entries with a new one at the front. It replaces the entry of the same question. While the user types in
 * one field it replaces the newest entry, so that typing does not leave one entry per pause.
 * @param {Entry[]} kept
 * @param {Entry} entry
 */
export function recorded(kept, entry) {
  const question = questionKey(readQuery(entry.query));
  const others = kept.filter((old, place) => {
    const isGrowing = place === 0 && old.burst === entry.burst && old.session === entry.session;
    return !isGrowing && questionKey(readQuery(old.query)) !== question;
  });
  return [entry, ...others].slice(0, MOST);
}

/**
 * Set up the list of the last explanations, stored in this browser.
 * @param {Page} page
 */
export function mountHistory(page) {
  let burst = 0;
  let kept = parsed(localStorage.getItem(PLACE));

  /** @param {Entry} entry */
  function link({ query, text, model, said }) {
    const shown = { class: "history-text", dir: "auto" };
    /** @param {Event} event */
    const click = (event) => {
      event.preventDefault();
      burst += 1;
      page.state.change(restored(readQuery(query), page.about.get()));
    };
    const opening = element("span", shown, text.slice(0, OPENING));
    const answer = element("span", { class: "soft" }, `${model} · ${said}`);
    return element("li", {}, element("a", { href: `/${query}`, click }, opening, answer));
  }

  function show() {
    fill(byId("history"), kept.map(link));
    byId("history-section").hidden = kept.length === 0;
  }

  /** @param {Entry[]} entries */
  function keep(entries) {
    kept = entries;
    localStorage.setItem(PLACE, JSON.stringify(kept));
    show();
  }

  function record() {
    const state = page.state.get();
    const { prediction, question } = page.answers.get();
    if (!prediction || question !== questionKey(state) || state.text.length > MOST_CHARACTERS)
      return;
    const { text, model } = state;
    const said = prediction.predicted.trim();
    const { session } = page;
    keep(recorded(kept, { query: writeQuery(state), text, model, said, burst, session }));
  }

  byId("question").addEventListener("focusout", () => {
    burst += 1;
  });
  byId("history-forget").addEventListener("click", () => keep([]));
  page.answers.listen(["prediction"], record);
  show();
}
