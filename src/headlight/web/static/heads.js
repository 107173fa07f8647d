import { byId, element, fill } from "/static/dom.js";
import { MASKED, attributionsOf } from "/static/explanation.js";
import { maskOf, toHex } from "/static/mask.js";
import { askKindly } from "/static/notices.js";
import { mountPanel } from "/static/panel.js";
import { modelOf } from "/static/state.js";

const KINDS = {
  syntactic: "syntactic: looks along the grammar, such as from verb to subject",
  positional: "positional: looks at a fixed place, such as the word before",
  both: "syntactic and positional",
  kept: "kept for another reason",
};

function described(found, layer, head) {
  const kind = found.kinds[layer][head];
  const roles = found.roles[layer][head];
  const what = kind ? `, ${kind}` : "";
  return `Layer ${layer + 1}, head ${head + 1}${what}${roles.length ? `: ${roles.join(", ")}` : ""}`;
}

function strongest(attribution) {
  const words = attribution.words.filter((word) => !word.special && word.score > 0);
  const best = words.sort((one, other) => other.score - one.score).slice(0, 3);
  return best.map((word) => word.text).join(", ") || "nothing";
}

export function mountHeads(page) {
  const box = byId("heads");
  let found = null;

  const model = () => modelOf(page.about, page.state.get().model);
  const current = () => maskOf(page.state.get(), model()) ?? found.open;

  function apply(mask) {
    const { methods } = page.state.get();
    const room = methods.slice(0, page.about.limits.methods - 1);
    const withMasked = methods.includes(MASKED) ? methods : [...room, MASKED];
    const isOwn = model().has_mask && toHex(mask) === toHex(found.open);
    page.state.change({ mask: isOwn ? "" : toHex(mask), methods: withMasked });
  }

  function toggle(layer, head) {
    apply(
      current().map((row, l) =>
        row.map((isOpen, h) => (l === layer && h === head ? !isOpen : isOpen)),
      ),
    );
  }

  function headButton(layer, head) {
    const label = described(found, layer, head);
    return element("button", {
      type: "button",
      class: `head ${found.kinds[layer][head] ?? "other"}`,
      "data-layer": layer,
      "data-head": head,
      "data-tip": label,
      "aria-label": label,
      "aria-pressed": "false",
      tabindex: layer || head ? "-1" : "0",
      click: () => toggle(layer, head),
    });
  }

  function rowOf(layer) {
    const heads = Array.from({ length: found.heads }, (_, head) => headButton(layer, head));
    return element(
      "div",
      { class: "head-row" },
      element("span", { class: "row-name", "aria-hidden": "true" }, String(layer + 1)),
      heads,
    );
  }

  function build() {
    box.style.setProperty("--heads", String(found.heads));
    fill(
      box,
      Array.from({ length: found.layers }, (_, layer) => rowOf(layer)),
    );
    show();
  }

  function show() {
    if (!found || !box.firstChild) return;
    const mask = current();
    for (const node of box.querySelectorAll(".head")) {
      node.setAttribute("aria-pressed", String(mask[node.dataset.layer][node.dataset.head]));
    }
    sayAnswer(mask.flat());
  }

  function sayAnswer(mask) {
    const attribution = attributionsOf(page.answers.get(), page.state.get()).find(
      (each) => each.method === MASKED,
    );
    const count = `${mask.filter(Boolean).length} of ${mask.length} heads are on.`;
    const words = attribution ? ` With them Mask-LRP points to: ${strongest(attribution)}.` : "";
    fill(byId("heads-answer"), count + words);
  }

  function move(event) {
    const node = event.target.closest(".head");
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[
      event.key
    ];
    if (!node || !step) return;
    event.preventDefault();
    const [layer, head] = [
      Number(node.dataset.layer) + step[0],
      Number(node.dataset.head) + step[1],
    ];
    const next = box.querySelector(`.head[data-layer="${layer}"][data-head="${head}"]`);
    if (!next) return;
    node.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  async function refresh() {
    const answer = await askKindly(
      `/api/heads?model=${encodeURIComponent(page.state.get().model)}`,
      undefined,
      "heads",
    );
    if (!answer) return;
    found = answer;
    build();
  }

  const whole = (value) => () => found && apply(found.open.map((row) => row.map(() => value)));
  byId("heads-learned").addEventListener("click", () => found && apply(found.open));
  byId("heads-all").addEventListener("click", whole(true));
  byId("heads-none").addEventListener("click", whole(false));
  box.addEventListener("keydown", move);
  page.state.listen(["mask"], show);
  page.answers.listen(["found"], show);
  mountPanel(page, "heads", ["model"], refresh, () => model().has_heads);
  fill(
    byId("heads-legend"),
    Object.entries(KINDS).map(([kind, words]) =>
      element("li", {}, element("span", { class: `head sample ${kind}` }), words),
    ),
  );
}
