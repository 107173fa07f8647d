/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { probability } from "../shared/numbers.js";
import { changeSentence, listed, perToken } from "./words.js";

const INVITATION = "Take a source away to see how probable the same answer is without it.";

/**
 * @param {string} label
 * @param {number} share
 */
function bar(label, share) {
  const gauge = element("span", { class: "gauge", "aria-hidden": "true" });
  gauge.style.setProperty("--share", String(share));
  return element(
    "li",
    { class: "explained" },
    element("span", { dir: "auto" }, label),
    gauge,
    element("span", { class: "value" }, probability(share)),
  );
}

/**
 * Set up what happens to the answer's probability when sources are taken away.
 * @param {Page} page
 */
export function mountWithout(page) {
  function show() {
    const { explained, change } = page.answers.get();
    const { without } = page.pointing.get();
    const box = byId("without");
    box.hidden = !explained?.sources.length;
    box.classList.toggle("some", without.length > 0);
    if (!without.length) return fill(box, element("p", {}, INVITATION));
    if (!change) return fill(box, element("p", {}, "Reading it again …"));
    const { before, after, tokens } = change;
    fill(
      box,
      element("p", { id: "change", dir: "auto" }, changeSentence(change, without)),
      element(
        "ul",
        { class: "bars", "aria-label": "Mean probability of a token of the answer" },
        bar("With all sources", perToken(before, tokens)),
        bar(`Without ${listed(without)}`, perToken(after, tokens)),
      ),
      element("p", { class: "soft" }, "Bars: the mean probability of a token of the answer."),
    );
  }

  page.answers.listen(["explained", "change"], show);
  page.pointing.listen(["without"], show);
}
