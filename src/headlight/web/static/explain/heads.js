/** @import { Attributed, HeadMap } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { isBeyond } from "../shared/palette.js";
import { attributionsOf } from "./answers.js";
import { MASKED, maskOf, toHex } from "./mask.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";

const KINDS = {
  syntactic: "syntactic: follows grammar, such as from a subject to its verb",
  positional: "positional: looks at a fixed distance, such as the previous word",
  both: "syntactic and positional",
  kept: "kept for another reason",
};
/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const POINTED = 3; // How many words the sentence about Mask-LRP names.

/**
 * The name of a head; layers and heads are shown counted from 1.
 * @param {Pick<HeadMap, "kinds" | "roles">} map
 * @param {number} layer
 * @param {number} head
 */
export function headName({ kinds, roles }, layer, head) {
  const kind = kinds[layer][head] ? `, ${kinds[layer][head]}` : "";
  const does = roles[layer][head].length ? `: ${roles[layer][head].join(", ")}` : "";
  return `Layer ${layer + 1}, head ${head + 1}${kind}${does}`;
}

/**
 * A mask with one head switched.
 * @param {boolean[][]} mask
 * @param {number} layer
 * @param {number} head
 */
export function switched(mask, layer, head) {
  return mask.map((row, l) => row.map((isOpen, h) => (l === layer && h === head) !== isOpen));
}

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

  /**
   * @param {HeadMap} map
   * @param {number} layer
   * @param {number} head
   */
  function headButton(map, layer, head) {
    const label = headName(map, layer, head);
    return element("button", {
      type: "button",
      class: `head ${map.kinds[layer][head] ?? "other"}`,
      "data-layer": layer,
      "data-head": head,
      "data-tip": label,
      "aria-label": label,
      "aria-pressed": "false",
      tabindex: layer || head ? "-1" : "0",
      click: () => apply(map, switched(current(map), layer, head)),
    });
  }

  /** @param {HeadMap} map */
  function build(map) {
    box.style.setProperty("--heads", String(map.heads));
    const rows = map.open.map((heads, layer) => {
      const name = { class: "row-name", "aria-hidden": "true" };
      const buttons = heads.map((_, head) => headButton(map, layer, head));
      return element(
        "div",
        { class: "head-row" },
        element("span", name, String(layer + 1)),
        buttons,
      );
    });
    fill(box, rows);
    show();
  }

  function show() {
    if (!found || !box.firstChild) return;
    const mask = current(found);
    const open = mask.flat();
    for (const [place, node] of [...box.querySelectorAll(".head")].entries())
      node.setAttribute("aria-pressed", String(open[place]));
    const attributions = attributionsOf(page.answers.get(), page.state.get());
    const masked = attributions.find((each) => each.method === MASKED);
    fill(byId("heads-answer"), maskSentence(mask, masked));
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const node = document.activeElement;
    const step = STEPS[event.key];
    if (!(node instanceof HTMLElement) || !node.matches(".head") || !step) return;
    event.preventDefault();
    const layer = Number(node.dataset.layer) + step[0];
    const head = Number(node.dataset.head) + step[1];
    const next = box.querySelector(`.head[data-layer="${layer}"][data-head="${head}"]`);
    if (!(next instanceof HTMLElement)) return;
    node.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  async function refresh() {
    const path = `/api/heads?model=${encodeURIComponent(page.state.get().model)}`;
    /** @type {HeadMap | null | undefined} */
    const answer = await askKindly(path, undefined, "heads");
    if (!answer) return;
    found = answer;
    build(answer);
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
  box.addEventListener("keydown", move);
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
