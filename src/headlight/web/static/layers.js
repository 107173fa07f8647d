import { byId, fill, options } from "/static/dom.js";
import { heatmap } from "/static/heatmap.js";
import { askKindly } from "/static/notices.js";
import { quoted } from "/static/numbers.js";
import { mountPanel } from "/static/panel.js";
import { saveButton } from "/static/saving.js";
import { QUESTION, modelOf, questionOf } from "/static/state.js";

export function mountLayers(page) {
  const slider = byId("layer");
  const chooser = byId("layer-method");
  let answer = null;
  let frame = 0;

  const model = () => modelOf(page.about, page.state.get().model);

  function draw() {
    const state = page.state.get();
    if (!answer) return;
    slider.max = String(answer.layers.length);
    const place = Math.min(state.layer, answer.layers.length);
    slider.value = String(place);
    const shown = place ? answer.layers[place - 1] : answer.whole;
    const name = place
      ? `layer ${shown.layer} (${place} of ${answer.layers.length})`
      : "all layers together";
    fill(byId("layer-name"), name);
    slider.setAttribute("aria-valuetext", name);
    const explained = page.answers.get().prediction?.explained ?? "the answer";
    const settings = {
      label: `${answer.method}, ${name}`,
      isSigned: answer.signed,
      meaning: [`for ${quoted(explained)}`, `against ${quoted(explained)}`],
      palette: page.about.palette,
    };
    fill(
      byId("layer-map"),
      heatmap(state.unit === "words" ? shown.words : shown.pieces, settings, {
        "data-layer": place,
      }),
      saveButton("layers", answer),
    );
  }

  async function refresh() {
    const state = page.state.get();
    options(chooser, model().layered, state.layerMethod);
    if (!state.text.trim()) {
      answer = null;
      return fill(byId("layer-map"));
    }
    const found = await askKindly(
      "/api/layers",
      { ...questionOf(state), method: state.layerMethod },
      "layers",
    );
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
    () => model().layered.length > 0,
  );
}
