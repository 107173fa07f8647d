/** @import { Generated } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById, options, selectById } from "../shared/dom.js";
import { heatmap } from "../shared/heatmap.js";
import { askKindly } from "../shared/notices.js";
import { inputPieces } from "../shared/pieces.js";
import { saveButton } from "../shared/saving.js";
import { matrixView } from "./matrix.js";
import { modelOf } from "./page.js";
import { mountPanel } from "./panel.js";
import { oneOf } from "./state.js";

const USUAL = 12;

/**
 * Set up the panel that continues the text and explains each new token.
 * @param {Page} page
 * @param {() => void} settle sends typed text to the server at once
 */
export function mountGeneration(page, settle) {
  const chooser = selectById("generate-method");
  const counter = inputById("generate-count");
  const writing = inputById("continuation");

  /**
   * @param {Generated} answer
   * @param {number} row
   */
  function showRow(answer, row) {
    const word = answer.output[row].trim();
    const map = heatmap(inputPieces(answer, row), {
      label: `What “${word}” came from`,
      isSigned: answer.signed,
      meaning: [`for “${word}”`, `against “${word}”`],
      palette: page.about.get().palette,
    });
    const name = element("strong", { dir: "auto" }, word || "␣");
    fill(byId("generated-row"), element("h3", {}, "What ", name, " came from"), map);
    const buttons = byId("generated-text").querySelectorAll("button");
    for (const [place, button] of buttons.entries())
      button.setAttribute("aria-pressed", String(place === row));
  }

  /**
   * @param {Generated} answer
   * @param {number} row
   */
  function outputButton(answer, row) {
    const click = () => showRow(answer, row);
    const look = { type: "button", class: "output", "aria-pressed": "false", click };
    return element("button", look, answer.output[row].trim() || "⏎");
  }

  /** @param {Generated} answer */
  function show(answer) {
    const { prompt, output, matrix, largest, note } = answer;
    const outputs = output.map((_, row) => [" ", outputButton(answer, row)]);
    fill(byId("generated-text"), element("span", {}, prompt.join("")), outputs);
    const columns = [...prompt, ...output.slice(0, -1)];
    const view = matrixView({
      rows: output,
      columns,
      matrix,
      largest,
      note,
      isSigned: answer.signed,
      palette: page.about.get().palette,
      label: "Generated words (rows) and the words before them (columns)",
      sentence: (row, column) => `“${columns[column].trim()}” for “${output[row].trim()}”`,
      onRow: (row) => showRow(answer, row),
    });
    fill(byId("generated-matrix"), view, saveButton("generation", answer));
    if (output.length) showRow(answer, 0);
  }

  async function refresh() {
    const { methods, generateMethod, generated, continuation, model, text } = page.state.get();
    const most = page.about.get().limits.generated_tokens;
    const known = modelOf(page).methods;
    options(chooser, known, oneOf(generateMethod, known, methods[0]));
    counter.max = String(most);
    counter.value = String(generated || USUAL);
    writing.value = continuation;
    if (!generated || !text.trim()) {
      for (const id of ["generated-text", "generated-matrix", "generated-row"]) fill(byId(id));
      return;
    }
    const tokens = Math.min(generated, most);
    const method = chooser.value;
    const body = { model, text, method, tokens, continuation: continuation || null };
    /** @type {Generated | null | undefined} */
    const answer = await askKindly("/api/generate", body, "generation");
    if (answer) show(answer);
  }

  byId("generation-form").addEventListener("submit", (event) => {
    event.preventDefault();
    settle();
    const before = page.state.get();
    page.state.change({
      generated: Math.max(1, Number(counter.value) || USUAL),
      generateMethod: chooser.value,
      continuation: writing.value,
    });
    if (page.state.get() === before) refresh();
  });
  mountPanel(
    page,
    "generation",
    ["model", "text", "generated", "generateMethod", "continuation"],
    refresh,
    () => modelOf(page).generates,
  );
}
