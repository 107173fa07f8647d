/** @import { Mixed } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById, options, selectById } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { saveButton } from "../shared/saving.js";
import { matrixView } from "./matrix.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";
import { QUESTION, oneOf, questionOf } from "./state.js";

/**
 * Set up the panel that shows how much of every input token is in every token after a layer.
 * @param {Page} page
 */
export function mountMixing(page) {
  const chooser = selectById("mix-method");
  const slider = inputById("mix-layer");

  /** @param {Mixed} answer */
  function show(answer) {
    const { tokens, matrix, largest, note, method, layer } = answer;
    const view = matrixView({
      rows: tokens,
      columns: tokens,
      matrix,
      largest,
      note,
      isSigned: false,
      palette: page.about.get().palette,
      label: `Token mixing, ${method}, up to layer ${layer}`,
      sentence: (row, column) => `How much of “${tokens[column]}” is in “${tokens[row]}”`,
    });
    fill(byId("mixing"), view, saveButton("mixing", answer));
  }

  /** Set the controls to the chosen method and layer, and return the layer. */
  function showControls() {
    const { mixing, layers } = modelOf(page);
    const { mixMethod, mixLayer } = page.state.get();
    options(chooser, mixing, oneOf(mixMethod, mixing, mixing[0]));
    const layer = mixLayer && mixLayer <= layers ? mixLayer : layers;
    slider.max = String(layers);
    slider.value = String(layer);
    fill(byId("mix-layer-name"), `up to layer ${layer} of ${layers}`);
    return layer;
  }

  async function refresh() {
    const layer = showControls();
    const state = page.state.get();
    const most = page.about.get().limits.matrix_tokens;
    if (!state.text.trim()) return fill(byId("mixing"));
    if (page.answers.get().tokens.length > most) {
      const why = `This text is longer than ${most} tokens, the most that a matrix can show. Shorten it to see how its tokens mix.`;
      return fill(byId("mixing"), element("p", {}, why));
    }
    const body = { ...questionOf(state), method: chooser.value, layer, accumulated: true };
    /** @type {Mixed | null | undefined} */
    const answer = await askKindly("/api/mix", body, "mixing");
    if (answer === null) fill(byId("mixing"));
    if (answer) show(answer);
  }

  chooser.addEventListener("change", () => page.state.change({ mixMethod: chooser.value }));
  slider.addEventListener("input", () => page.state.change({ mixLayer: Number(slider.value) }));
  mountPanel(
    page,
    "mixing",
    [...QUESTION, "mixMethod", "mixLayer"],
    refresh,
    () => modelOf(page).mixing.length > 0,
  );
}
