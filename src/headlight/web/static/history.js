import { byId, element, fill } from "/static/dom.js";
import { questionOf, readQuery, restored, writeQuery } from "/static/state.js";

const PLACE = "headlight-history";
const MOST = 12;
const MOST_CHARACTERS = 4000;

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE));
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

const sameQuestion = (one, other) =>
  JSON.stringify(questionOf(one)) === JSON.stringify(questionOf(other));

export function mountHistory(page) {
  let burst = 0;
  let kept = read();

  function link(entry) {
    const text = element("span", { class: "history-text", dir: "auto" }, entry.text.slice(0, 90));
    const said = element("span", { class: "soft" }, `${entry.model} · ${entry.said}`);
    const open = (event) => {
      event.preventDefault();
      burst += 1;
      page.state.change(restored(readQuery(entry.query), page.about));
    };
    return element("li", {}, element("a", { href: `/${entry.query}`, click: open }, text, said));
  }

  function show() {
    fill(byId("history"), kept.map(link));
    byId("history-section").hidden = kept.length === 0;
  }

  function write() {
    localStorage.setItem(PLACE, JSON.stringify(kept));
    show();
  }

  // While someone is typing in one field, the newest entry grows with the text instead of one entry a pause.
  function record() {
    const state = page.state.get();
    const answers = page.answers.get();
    if (
      !answers.prediction ||
      answers.question !== JSON.stringify(questionOf(state)) ||
      state.text.length > MOST_CHARACTERS
    )
      return;
    const entry = {
      query: writeQuery(state),
      text: state.text,
      model: state.model,
      said: String(answers.prediction.predicted).trim(),
      burst,
    };
    const isReplaced = (old, place) =>
      sameQuestion(readQuery(old.query), readQuery(entry.query)) ||
      (place === 0 && old.burst === burst && old.session === page.session);
    kept = [
      { ...entry, session: page.session },
      ...kept.filter((old, place) => !isReplaced(old, place)),
    ].slice(0, MOST);
    write();
  }

  byId("question").addEventListener("focusout", () => {
    burst += 1;
  });
  byId("history-forget").addEventListener("click", () => {
    kept = [];
    write();
  });
  page.answers.listen(["prediction"], record);
  show();
}
