/** @import { HeadMap, WithoutHeads } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { cancel } from "../shared/api.js";
import { byId, fill } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";
import { capital, quoted } from "../shared/numbers.js";
import { headGrid, switched } from "./grid.js";
import { fromHex, toHex } from "./mask.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";
import { QUESTION, questionOf } from "./state.js";

const INVITATION = "All heads are on. Switch one off and see how the answer moves.";

/** @param {number} value */
const digits = (value) => value.toFixed(3).replace("-", "−");

/**
 * How the answer moved, in words.
 * @param {WithoutHeads} reply
 */
export function movedSentence(reply) {
  const { label, unit, before, after, off, heads } = reply;
  const said = quoted(reply.predicted_after);
  const count = `${off} of ${heads} heads ${off === 1 ? "is" : "are"} off.`;
  const step = `${capital(unit)} of ${quoted(label)}: ${digits(before)} → ${digits(after)}.`;
  if (unit === "value") return `${count} ${step}`;
  const isOther = reply.predicted_before !== reply.predicted_after;
  return `${count} ${step} The model ${isOther ? "now" : "still"} says ${said}.`;
}

/**
 * The heads that are off, as the API takes them: layer and head, counted from 1.
 * @param {boolean[][]} off
 */
export function places(off) {
  return off.flatMap((row, layer) =>
    row.flatMap((isOff, head) => (isOff ? [[layer + 1, head + 1]] : [])),
  );
}

/**
 * The heads of some kinds.
 * @param {Pick<HeadMap, "kinds">} map
 * @param {(string | null)[]} kinds
 */
export function headsOf(map, kinds) {
  return map.kinds.map((row) => row.map((kind) => kinds.includes(kind)));
}

/** @param {boolean[][]} mask */
const inverse = (mask) => mask.map((row) => row.map((value) => !value));

/**
 * Set up the heads that are switched off while the model runs.
 * @param {Page} page
 */
export function mountSwitching(page) {
  /** @type {HeadMap | null} */
  let found = null;
  let foundFor = "";

  /** @returns {boolean[][]} */
  function off() {
    const { layers, heads } = modelOf(page);
    const given = page.state.get().off;
    return fromHex(given, layers, heads) ?? Array(layers).fill(Array(heads).fill(false));
  }

  /** @param {boolean[][]} heads */
  const apply = (heads) =>
    page.state.change({ off: heads.flat().some(Boolean) ? toHex(heads) : "" });

  const grid = headGrid(byId("off"), (layer, head) => apply(switched(off(), layer, head)));

  async function measure() {
    const heads = places(off());
    if (!heads.length) {
      cancel("off");
      say("off", "");
      return fill(byId("off-answer"), INVITATION);
    }
    const body = { ...questionOf(page.state.get()), off: heads };
    /** @type {WithoutHeads | null | undefined} */
    const answer = await askKindly("/api/heads/off", body, "off");
    if (answer) fill(byId("off-answer"), movedSentence(answer));
    else if (answer === null) fill(byId("off-answer"), "");
  }

  async function refresh() {
    const { model } = page.state.get();
    if (foundFor !== model) {
      const path = `/api/heads?model=${encodeURIComponent(model)}`;
      /** @type {HeadMap | null | undefined} */
      const answer = await askKindly(path, undefined, "off-heads");
      if (!answer) return;
      found = answer;
      foundFor = model;
      grid.build(answer);
    }
    grid.show(inverse(off()));
    await measure();
  }

  /**
   * @param {string} id
   * @param {(map: HeadMap) => boolean[][]} heads
   */
  function mountButton(id, heads) {
    byId(id).addEventListener("click", () => {
      if (found) apply(heads(found));
    });
  }

  function showButtons() {
    for (const id of ["off-syntactic", "off-positional", "off-others"])
      byId(id).hidden = !modelOf(page).has_mask;
  }

  mountButton("off-syntactic", (map) => headsOf(map, ["syntactic", "both"]));
  mountButton("off-positional", (map) => headsOf(map, ["positional", "both"]));
  mountButton("off-others", (map) => headsOf(map, [null]));
  mountButton("off-all", (map) => map.open.map((row) => row.map(() => true)));
  mountButton("off-none", (map) => map.open.map((row) => row.map(() => false)));
  page.state.listen(["model"], showButtons);
  page.state.listen(["off"], () => {
    if (foundFor === page.state.get().model) grid.show(inverse(off()));
  });
  mountPanel(page, "off", ["off", ...QUESTION], refresh, () => modelOf(page).switches_heads);
  showButtons();
}
