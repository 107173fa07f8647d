import { byId, element, fill, options } from "/static/dom.js";
import { matrixView } from "/static/matrix.js";
import { askKindly } from "/static/notices.js";
import { mountPanel } from "/static/panel.js";
import { saveButton } from "/static/saving.js";
import { QUESTION, modelOf, questionOf } from "/static/state.js";

export function mountMixing(page) {
  const model = () => modelOf(page.about, page.state.get().model);
  const methods = () => model().mixing;

  function show(answer) {
    const view = matrixView({
      rows: answer.tokens,
      columns: answer.tokens,
      matrix: answer.matrix,
      largest: answer.largest,
      isSigned: false,
      palette: page.about.palette,
      label: `Token mixing, ${answer.method}, up to layer ${answer.layer}`,
      sentence: (row, column) =>
        `How much of “${answer.tokens[column]}” is in “${answer.tokens[row]}”`,
    });
    fill(byId("mixing"), view, saveButton("mixing", answer));
  }

  async function refresh() {
    const state = page.state.get();
    const { layers } = model();
    options(
      byId("mix-method"),
      methods(),
      methods().includes(state.mixMethod) ? state.mixMethod : methods()[0],
    );
    const layer = state.mixLayer && state.mixLayer <= layers ? state.mixLayer : layers;
    byId("mix-layer").max = String(layers);
    byId("mix-layer").value = String(layer);
    fill(byId("mix-layer-name"), `up to layer ${layer} of ${layers}`);
    if (!state.text.trim()) return fill(byId("mixing"));
    const body = {
      ...questionOf(state),
      method: byId("mix-method").value,
      layer,
      accumulated: true,
    };
    const most = page.about.limits.matrix_tokens;
    if (page.answers.get().tokens.length > most) {
      return fill(
        byId("mixing"),
        element(
          "p",
          {},
          `This text is longer than ${most} tokens, the most that a matrix shows. Shorten it to see how it mixes.`,
        ),
      );
    }
    const answer = await askKindly("/api/mix", body, "mixing");
    if (answer === null) fill(byId("mixing"));
    if (answer) show(answer);
  }

  byId("mix-method").addEventListener("change", (event) =>
    page.state.change({ mixMethod: event.target.value }),
  );
  byId("mix-layer").addEventListener("input", (event) =>
    page.state.change({ mixLayer: Number(event.target.value) }),
  );
  mountPanel(
    page,
    "mixing",
    [...QUESTION, "mixMethod", "mixLayer"],
    refresh,
    () => methods().length > 0,
  );
}
