/** @import { Layered } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, fill, inputById, options, selectById } from "../shared/dom.js";
import { heatmap } from "../shared/heatmap.js";
import { askKindly } from "../shared/notices.js";
import { quoted } from "../shared/numbers.js";
import { saveButton } from "../shared/saving.js";
import { piecesOf } from "./maps.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";
import { QUESTION, questionOf } from "./state.js";

/**
 * What to show at a position of the slider, and its name; 0 is all layers together.
 * @param {Layered} answer
 * @param {number} asked
 */
export function shownLayer({ layers, whole }, asked) {
  const place = Math.min(asked, layers.length);
  if (!place) return { place, views: whole, name: "all layers together" };
  const views = layers[place - 1];
  return { place, views, name: `layer ${views.layer} (${place} of ${layers.length})` };
}

/**
 * Set up the panel that shows a method layer by layer, with a slider.
 * @param {Page} page
 */
export function mountLayers(page) {
  const slider = inputById("layer");
  const chooser = selectById("layer-method");
  /** @type {Layered | null} */
  let answer = null;
  let frame = 0;

  function draw() {
    if (!answer) return;
    const { layer, unit } = page.state.get();
    const { place, views, name } = shownLayer(answer, layer);
    slider.max = String(answer.layers.length);
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", name);
    fill(byId("layer-name"), name);
    const explained = quoted(page.answers.get().prediction?.explained ?? "the answer");
    const map = heatmap(
      piecesOf(views, unit),
      {
        label: `${answer.method}, ${name}`,
        isSigned: answer.signed,
        meaning: [`for ${explained}`, `against ${explained}`],
        palette: page.about.get().palette,
      },
      { "data-layer": place },
    );
    fill(byId("layer-map"), map, saveButton("layers", answer));
  }

  async function refresh() {
    const state = page.state.get();
    options(chooser, modelOf(page).layered, state.layerMethod);
    if (!state.text.trim()) {
      answer = null;
      return fill(byId("layer-map"));
    }
    const body = { ...questionOf(state), method: state.layerMethod };
    /** @type {Layered | null | undefined} */
    const found = await askKindly("/api/layers", body, "layers");
    if (found === null) fill(byId("layer-map"));
    if (!found) return;
    answer = found;
    draw();
  }

  slider.addEventListener("input", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => page.state.change({ layer: Number(slider.value) }));
  });
  chooser.addEventListener("change", () => page.state.change({ layerMethod: chooser.value }));
  page.state.listen(["layer", "unit"], draw);
  mountPanel(
    page,
    "layers",
    [...QUESTION, "layerMethod"],
    refresh,
    () => modelOf(page).layered.length > 0,
  );
}
