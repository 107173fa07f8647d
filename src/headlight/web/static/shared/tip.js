import { element } from "./dom.js";

const GAP = 8;

/**
 * @param {HTMLElement} tip
 * @param {Element} target
 */
function place(tip, target) {
  const box = target.getClientRects()[0] ?? target.getBoundingClientRect();
  const width = tip.offsetWidth;
  const left = Math.min(
    Math.max(GAP, box.left + box.width / 2 - width / 2),
    innerWidth - width - GAP,
  );
  const above = box.top - tip.offsetHeight - GAP;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > GAP ? above : box.bottom + GAP}px`;
}

/**
 * @param {HTMLElement} tip
 * @param {Event} event
 */
function show(tip, event) {
  const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
  tip.hidden = !target;
  if (!target) return;
  tip.textContent = target.getAttribute("data-tip");
  place(tip, target);
}

/**
 * Set up tooltips. The same words are in the aria-label of the element, so a screen reader does not need the
 * tooltip.
 */
export function mountTips() {
  const tip = element("div", { class: "tip", "aria-hidden": "true", hidden: true });
  const hide = () => {
    tip.hidden = true;
  };
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => show(tip, event));
  document.addEventListener("focusin", (event) => show(tip, event));
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}
