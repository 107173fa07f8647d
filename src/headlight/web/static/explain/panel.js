/** @import { Page } from "./page.js" */
/** @import { State } from "./state.js" */
import { byId } from "../shared/dom.js";
import { say } from "../shared/notices.js";

/**
 * Connect a <details> with the state: which panels are open is part of the link.
 * @param {Page} page
 * @param {string} name
 * @param {() => void} onToggle
 */
export function followView(page, name, onToggle) {
  const details = byId(`${name}-panel`, HTMLDetailsElement);
  /** @param {State} state */
  const follow = (state) => {
    details.open = state.view.includes(name);
  };
  details.addEventListener("toggle", () => {
    const others = page.state.get().view.filter((each) => each !== name);
    page.state.change({ view: details.open ? [...others, name].sort() : others });
    if (!details.open) say(name, "");
    onToggle();
  });
  page.state.listen(["view"], follow);
  follow(page.state.get());
  return details;
}

/**
 * Set up a panel that asks the server only while it is open, and again when one of the keys changes. It waits
 * for the explanation itself, which matters most.
 * @param {Page} page
 * @param {string} name
 * @param {(keyof State)[]} keys
 * @param {() => void} refresh
 * @param {() => boolean} isOffered
 */
export function mountPanel(page, name, keys, refresh, isOffered) {
  let isStale = true;

  function update() {
    details.hidden = !isOffered();
    if (!details.open || details.hidden || !isStale || page.answers.get().pending.length) return;
    isStale = false;
    refresh();
  }

  const details = followView(page, name, update);
  page.state.listen(keys, () => {
    isStale = true;
    update();
  });
  page.answers.listen(["pending"], update);
  update();
}
