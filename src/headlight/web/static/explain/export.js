/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";
import { save } from "../shared/saving.js";
import { maskOf } from "./mask.js";
import { modelOf, writeAddress } from "./page.js";
import { questionOf } from "./state.js";

const FORMATS = ["html", "svg", "json", "latex"];
const SHARPNESS = 2;

/**
 * The name that the server gives a file.
 * @param {string | null} disposition
 */
export function fileName(disposition) {
  return /filename="?([^";]+)"?/.exec(disposition ?? "")?.[1] ?? "headlight";
}

/**
 * A picture as PNG; null if the browser cannot draw it.
 * @param {string} svg
 * @returns {Promise<Blob | null>}
 */
async function painted(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
    const [width, height] = [image.naturalWidth * SHARPNESS, image.naturalHeight * SHARPNESS];
    const canvas = element("canvas", { width, height });
    canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * Set up the export of files, and the link to what is shown.
 * @param {Page} page
 * @param {() => void} settle sends typed text to the server at once
 */
export function mountExport(page, settle) {
  /**
   * @template T
   * @param {string} format
   * @param {(response: Response) => Promise<T>} read
   */
  function fetched(format, read) {
    settle();
    const state = page.state.get();
    const { methods, difference, unit } = state;
    const mask = maskOf(state, modelOf(page));
    const shown = { format, words: unit === "words", difference };
    return askKindly(
      "/api/export",
      { ...questionOf(state), methods, mask, ...shown },
      "export",
      read,
    );
  }

  /** @param {string} format */
  async function exportFile(format) {
    const file = await fetched(format, async (response) => ({
      blob: await response.blob(),
      name: fileName(response.headers.get("Content-Disposition")),
    }));
    if (file) save(file.blob, file.name);
  }

  async function exportPicture() {
    const svg = await fetched("svg", (response) => response.text());
    if (!svg) return;
    const blob = await painted(svg).catch(() => null);
    if (blob) save(blob, "headlight.png");
    else say("export", "This picture could not be drawn as PNG. Export it as SVG instead.");
  }

  async function copyLink() {
    settle();
    writeAddress(page);
    const field = inputById("link");
    field.value = location.href;
    field.hidden = false;
    field.select();
    // Browsers give pages without TLS, except those of this machine, no clipboard.
    const isCopied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    fill(byId("link-answer"), isCopied ? "The link is copied." : "Copy the link from the field.");
  }

  for (const format of FORMATS)
    byId(`export-${format}`).addEventListener("click", () => exportFile(format));
  byId("export-png").addEventListener("click", exportPicture);
  byId("copy-link").addEventListener("click", copyLink);
  page.state.listen(null, () => {
    byId("link").hidden = true;
    fill(byId("link-answer"));
  });
}
