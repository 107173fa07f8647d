import { byId, element, fill, options } from "/static/dom.js";
import { heatmap } from "/static/heatmap.js";
import { matrixView } from "/static/matrix.js";
import { askKindly } from "/static/notices.js";
import { mountPanel } from "/static/panel.js";
import { saveButton } from "/static/saving.js";
import { modelOf } from "/static/state.js";

const USUAL = 12;

// The first token is not in the scale: causal models rest their attention there.
function rowPieces(inputs, scores, count) {
  const first = count > 1 ? 1 : 0;
  const largest = Math.max(...scores.slice(first, count).map(Math.abs), 1e-12);
  return inputs.slice(0, count).map((token, place) => ({
    text: token.trimStart(),
    before: token.slice(0, token.length - token.trimStart().length),
    score: scores[place],
    share: Math.max(-1, Math.min(1, scores[place] / largest)),
    special: false,
    positions: [place],
    segment: null,
  }));
}

export function mountGeneration(page) {
  const model = () => modelOf(page.about, page.state.get().model);

  function showRow(answer, row) {
    const inputs = [...answer.prompt, ...answer.output];
    const pieces = rowPieces(inputs, answer.matrix[row], answer.prompt.length + row);
    const word = answer.output[row].trim();
    const settings = {
      label: `What “${word}” came from`,
      isSigned: answer.signed,
      meaning: [`for “${word}”`, `against “${word}”`],
      palette: page.about.palette,
    };
    fill(
      byId("generated-row"),
      element("h3", {}, "What ", element("strong", { dir: "auto" }, word || "␣"), " came from"),
      heatmap(pieces, settings),
    );
    for (const [place, button] of [
      ...byId("generated-text").querySelectorAll("button"),
    ].entries()) {
      button.setAttribute("aria-pressed", String(place === row));
    }
  }

  function outputButton(answer, token, row) {
    return element(
      "button",
      {
        type: "button",
        class: "output",
        "aria-pressed": "false",
        click: () => showRow(answer, row),
      },
      token.trim() || "⏎",
    );
  }

  function show(answer) {
    const outputs = answer.output.map((token, row) => [" ", outputButton(answer, token, row)]);
    fill(byId("generated-text"), element("span", {}, answer.prompt.join("")), outputs.flat());
    const columns = [...answer.prompt, ...answer.output.slice(0, -1)];
    const view = matrixView({
      rows: answer.output,
      columns,
      matrix: answer.matrix,
      largest: answer.largest,
      isSigned: answer.signed,
      palette: page.about.palette,
      label: "Generated words (rows) and the words before them (columns)",
      sentence: (row, column) => `“${columns[column].trim()}” for “${answer.output[row].trim()}”`,
      onRow: (row) => showRow(answer, row),
    });
    fill(byId("generated-matrix"), view, saveButton("generation", answer));
    if (answer.output.length) showRow(answer, 0);
  }

  async function refresh() {
    const state = page.state.get();
    options(
      byId("generate-method"),
      model().methods,
      model().methods.includes(state.generateMethod) ? state.generateMethod : state.methods[0],
    );
    byId("generate-count").max = String(page.about.limits.generated_tokens);
    byId("generate-count").value = String(state.generated || USUAL);
    byId("continuation").value = state.continuation;
    if (!state.generated || !state.text.trim()) {
      for (const id of ["generated-text", "generated-matrix", "generated-row"]) fill(byId(id));
      return;
    }
    const body = {
      model: state.model,
      text: state.text,
      method: byId("generate-method").value,
      tokens: Math.min(state.generated, page.about.limits.generated_tokens),
      continuation: state.continuation || null,
    };
    const answer = await askKindly("/api/generate", body, "generation");
    if (answer) show(answer);
  }

  byId("generation-form").addEventListener("submit", (event) => {
    event.preventDefault();
    page.settle();
    const before = page.state.get();
    page.state.change({
      generated: Math.max(1, Number(byId("generate-count").value) || USUAL),
      generateMethod: byId("generate-method").value,
      continuation: byId("continuation").value,
    });
    if (page.state.get() === before) refresh();
  });
  mountPanel(
    page,
    "generation",
    ["model", "text", "generated", "generateMethod", "continuation"],
    refresh,
    () => model().generates,
  );
}
