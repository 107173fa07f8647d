import { element } from "/static/dom.js";

const GAP = 8;
const tip = element("div", { class: "tip", "aria-hidden": "true", hidden: true });

function place(target) {
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

function show(event) {
  const target = event.target.closest?.("[data-tip]");
  if (!target) return hide();
  tip.textContent = target.dataset.tip;
  tip.hidden = false;
  place(target);
}

function hide() {
  tip.hidden = true;
}

// The same words are in the aria-label of the thing itself, so the box is for the eye only.
export function mountTips() {
  document.body.append(tip);
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}
