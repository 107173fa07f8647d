/** @import { ExplainedAnswer, ReadBlock, ReadWord } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { piecesIn, walkable } from "../shared/heatmap.js";
import { capital } from "../shared/numbers.js";
import { markedPlace } from "./places.js";

/**
 * The words of a block.
 * @param {ExplainedAnswer} explained
 * @param {number} block
 */
function wordsOf({ words }, block) {
  const shown = words.flatMap((word, number) => {
    if (word.block !== block) return [];
    const look = { class: "piece", role: "button", tabindex: "-1", "aria-pressed": "false" };
    const node = element("span", look, word.text);
    return [[word.before, markedPlace(node, { side: "read", kind: "word", number })]];
  });
  return element("p", { class: "running", dir: "auto" }, shown);
}

/** Let the tab key enter the words at the first. */
function enter() {
  const [first] = piecesIn(byId("read"));
  if (first) first.tabIndex = 0;
}

/**
 * Set up what the model read: its sources, and the words between them.
 * @param {Page} page
 */
export function mountRead(page) {
  /** @param {string} name */
  function toggle(name) {
    const { without } = page.pointing.get();
    const others = without.filter((each) => each !== name);
    page.pointing.change({
      without: others.length < without.length ? others : [...others, name],
    });
  }

  /**
   * @param {string} name
   * @param {number} number
   */
  function sourceHead(name, number) {
    const title = element(
      "button",
      { type: "button", class: "source-name" },
      `[${number + 1}] ${name}`,
    );
    const take = {
      type: "button",
      class: "take",
      "aria-pressed": "false",
      "aria-label": `Take ${name} away`,
      click: () => toggle(name),
    };
    return element(
      "div",
      { class: "source-head" },
      markedPlace(title, { side: "read", kind: "source", number }),
      element("span", { class: "gauge", "aria-hidden": "true" }),
      element("span", { class: "value" }),
      element("button", take, "Take away"),
    );
  }

  /**
   * @param {ExplainedAnswer} explained
   * @param {ReadBlock} block
   * @param {number} place
   */
  function drawnBlock(explained, { name, source }, place) {
    const words = wordsOf(explained, place);
    if (source === null) {
      const role = name ? element("p", { class: "soft" }, capital(name)) : null;
      return element("div", { class: "between" }, role, words);
    }
    const look = { class: "source", "data-source": source, "data-name": name };
    return element("article", look, sourceHead(name, source), words);
  }

  function markGone() {
    const { without } = page.pointing.get();
    for (const node of byId("read").querySelectorAll(".source")) {
      const isGone = without.includes(node.getAttribute("data-name") ?? "");
      node.classList.toggle("gone", isGone);
      const button = node.querySelector(".take");
      button?.setAttribute("aria-pressed", String(isGone));
      if (button) fill(button, isGone ? "Put back" : "Take away");
    }
  }

  /** @type {ReadWord[] | null} */
  let drawn = null;

  page.answers.listen(["explained"], ({ explained }) => {
    byId("read-section").hidden = !explained;
    if (drawn && explained?.words === drawn) return;
    drawn = explained?.words ?? null;
    if (!explained) return fill(byId("read"));
    fill(
      byId("read"),
      explained.blocks.map((block, place) => drawnBlock(explained, block, place)),
    );
    fill(
      byId("notes"),
      explained.notes.map((note) => element("li", { class: "note" }, capital(note))),
    );
    markGone();
    enter();
  });
  page.pointing.listen(["without"], markGone);
  walkable(byId("read"));
}
