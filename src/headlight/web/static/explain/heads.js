/** @import { Attributed, HeadMap } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { isBeyond } from "../shared/palette.js";
import { attributionsOf } from "./answers.js";
import { headGrid, switched } from "./grid.js";
import { MASKED, maskOf, toHex } from "./mask.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";

const KINDS = {
  syntactic: "syntactic: follows grammar, such as from a subject to its verb",
  positional: "positional: looks at a fixed distance, such as the previous word",
  both: "syntactic and positional",
  kept: "kept for another reason",
};
const POINTED = 3; // How many words the sentence about Mask-LRP names.

/**
 * How many heads are on, and which words Mask-LRP points to.
 * @param {boolean[][]} mask
 * @param {Pick<Attributed, "words"> | undefined} attribution
 */
export function maskSentence(mask, attribution) {
  const heads = mask.flat();
  const count = `${heads.filter(Boolean).length} of ${heads.length} heads are on.`;
  if (!attribution) return count;
  const best = attribution.words
    .filter((word) => !word.special && !isBeyond(word.share) && word.score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, POINTED);
  const words = best.map((word) => word.text).join(", ") || "nothing";
  return `${count} With these, Mask-LRP points to: ${words}.`;
}

/**
 * Set up the heads of a model, which can be switched on and off for Mask-LRP.
 * @param {Page} page
 */
export function mountHeads(page) {
  const box = byId("heads");
  /** @type {HeadMap | null} */
  let found = null;

  /** @param {HeadMap} map */
  const current = (map) => maskOf(page.state.get(), modelOf(page)) ?? map.open;

  /**
   * @param {HeadMap} map
   * @param {boolean[][]} mask
   */
  function apply(map, mask) {
    const { methods } = page.state.get();
    const room = methods.slice(0, page.about.get().limits.methods - 1);
    const isOwn = modelOf(page).has_mask && toHex(mask) === toHex(map.open);
    page.state.change({
      mask: isOwn ? "" : toHex(mask),
      methods: methods.includes(MASKED) ? methods : [...room, MASKED],
    });
  }

  const grid = headGrid(box, (layer, head) => {
    if (found) apply(found, switched(current(found), layer, head));
  });

  function show() {
    if (!found || !box.firstChild) return;
    const mask = current(found);
    grid.show(mask);
    const attributions = attributionsOf(page.answers.get(), page.state.get());
    const masked = attributions.find((each) => each.method === MASKED);
    fill(byId("heads-answer"), maskSentence(mask, masked));
  }

  async function refresh() {
    const path = `/api/heads?model=${encodeURIComponent(page.state.get().model)}`;
    /** @type {HeadMap | null | undefined} */
    const answer = await askKindly(path, undefined, "heads");
    if (!answer) return;
    found = answer;
    grid.build(answer);
    show();
  }

  /**
   * @param {string} id
   * @param {(isOpen: boolean) => boolean} value
   */
  function mountButton(id, value) {
    byId(id).addEventListener("click", () => {
      if (found)
        apply(
          found,
          found.open.map((row) => row.map(value)),
        );
    });
  }

  mountButton("heads-learned", (isOpen) => isOpen);
  mountButton("heads-all", () => true);
  mountButton("heads-none", () => false);
  page.state.listen(["mask"], show);
  page.answers.listen(["found"], show);
  mountPanel(page, "heads", ["model"], refresh, () => modelOf(page).has_heads);
  fill(
    byId("heads-legend"),
    Object.entries(KINDS).map(([kind, words]) =>
      element("li", {}, element("span", { class: `head sample ${kind}` }), words),
    ),
  );
}
