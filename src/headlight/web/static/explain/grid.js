/** @import { HeadMap } from "../shared/replies.js" */
import { element, fill } from "../shared/dom.js";

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

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
  return mask.map((row, l) => row.map((isOn, h) => (l === layer && h === head) !== isOn));
}

/**
 * A grid of heads that are switched by a click or by keyboard; filled squares are on.
 * @param {HTMLElement} box
 * @param {(layer: number, head: number) => void} onSwitch
 */
export function headGrid(box, onSwitch) {
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
      click: () => onSwitch(layer, head),
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
  }

  /** @param {boolean[][]} mask the heads that are on */
  function show(mask) {
    const on = mask.flat();
    for (const [place, node] of [...box.querySelectorAll(".head")].entries())
      node.setAttribute("aria-pressed", String(on[place]));
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

  box.addEventListener("keydown", move);
  return { build, show };
}
