/** @import { Compared, Disagreements, Shown } from "../shared/replies.js" */
/** @import { State } from "./address.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById, selectById } from "../shared/dom.js";
import { heatmap } from "../shared/heatmap.js";
import { askKindly } from "../shared/notices.js";
import { capital, number, quoted } from "../shared/numbers.js";
import { comparing } from "../shared/palette.js";
import { difference } from "../shared/pieces.js";
import { routeOf } from "./address.js";

const LIMIT = 20;
/** @type {("first" | "second")[]} */
const SIDES = ["first", "second"];

/**
 * The sentence under the title of an example.
 * @param {Pick<Compared, "disagreement" | "predicted" | "gold">} example
 */
export function exampleSentence({ disagreement, predicted, gold }) {
  const verdict = gold === predicted ? ", correctly" : `, wrongly: it is ${gold}`;
  const said = `the model says ${predicted}${gold === null ? "" : verdict}`;
  return `Disagreement ${number(disagreement)}; ${said}.`;
}

/**
 * Set up the list of examples; those on which two methods disagree most come first.
 * @param {Page} page
 */
export function mountExamples(page) {
  const { methods, palette } = page.about;
  const box = inputById("difference");
  const [before, after] = [byId("before", HTMLButtonElement), byId("after", HTMLButtonElement)];

  /**
   * @param {string} name
   * @param {Shown[]} pieces
   * @param {string} label
   */
  function map(name, pieces, label) {
    const isSigned =
      methods.find((method) => method.name === name)?.signed ??
      pieces.some((piece) => piece.score < 0);
    /** @type {[string, string]} */
    const meaning = [`for ${quoted(label)}`, `against ${quoted(label)}`];
    const settings = { label: `Heat map of ${name}`, isSigned, meaning, palette };
    const drawn = heatmap(pieces, settings, { "data-method": name });
    return element("div", {}, element("h4", {}, name), drawn);
  }

  /**
   * @param {State} state
   * @param {Compared} example
   */
  function differenceMap({ first, second }, example) {
    const drawn = heatmap(difference(example.first, example.second), {
      label: `Difference between ${first} and ${second}`,
      isSigned: true,
      meaning: [`${first} gives more`, `${second} gives more`],
      palette: comparing(palette),
    });
    return element("div", {}, element("h4", {}, `${first} − ${second}`), drawn);
  }

  /**
   * @param {Compared} example
   * @param {State} state
   */
  function card(example, state) {
    const maps = [
      ...SIDES.map((side) => map(state[side], example[side], example.label)),
      state.difference ? differenceMap(state, example) : null,
    ];
    return element(
      "article",
      { class: "example" },
      element("h3", {}, `Example ${example.number}`),
      element("p", { class: "soft", dir: "auto" }, exampleSentence(example)),
      element("div", { class: "two" }, maps),
    );
  }

  function show() {
    const answer = page.answers.get().examples;
    if (!answer) return;
    const state = page.state.get();
    const last = Math.min(state.offset + answer.examples.length, answer.total);
    const range = `${state.offset + 1} to ${last} of ${answer.total}`;
    fill(
      byId("examples-list"),
      answer.examples.map((example) => card(example, state)),
    );
    fill(byId("range"), answer.total ? range : "No examples.");
    before.disabled = state.offset === 0;
    after.disabled = last >= answer.total;
  }

  async function refresh() {
    const { run, first, second, offset } = page.state.get();
    if (!page.answers.get().run || !first || !second) return;
    const asked = { first, second, offset: String(offset), limit: String(LIMIT) };
    const path = routeOf(run, `/examples?${new URLSearchParams(asked)}`);
    /** @type {Disagreements | null | undefined} */
    const examples = await askKindly(path, undefined, "examples");
    if (examples) page.answers.change({ examples });
  }

  /** @param {number} step */
  function turn(step) {
    page.state.change({ offset: Math.max(0, page.state.get().offset + step) });
  }

  const { positive, negative, unsigned } = palette.names;
  const words = `${capital(positive)} supports the answer, dotted ${negative} argues against it; ${unsigned} mattered.`;
  fill(byId("colour-words"), words);
  for (const side of SIDES) {
    const chooser = selectById(side);
    chooser.addEventListener("change", () =>
      page.state.change({ [side]: chooser.value, offset: 0 }),
    );
  }
  box.checked = page.state.get().difference;
  box.addEventListener("change", () => page.state.change({ difference: box.checked }));
  before.addEventListener("click", () => turn(-LIMIT));
  after.addEventListener("click", () => turn(LIMIT));
  page.answers.listen(["examples"], show);
  page.state.listen(["difference"], show);
  page.state.listen(["first", "second", "offset"], refresh);
  page.answers.listen(["run"], refresh);
}
