import { byId } from "/static/dom.js";
import { say } from "/static/notices.js";

// Which <details> are open is part of the link.
export function followView(page, name, onToggle) {
  const details = byId(`${name}-panel`);
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

// A panel asks the server only while it is open, again when one of the keys has changed, and after the
// explanation itself, which people wait for.
export function mountPanel(page, name, keys, refresh, isOffered = () => true) {
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
