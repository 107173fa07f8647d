import { byId, element, fill } from "/static/dom.js";
import { maskOf } from "/static/mask.js";
import { askKindly, say } from "/static/notices.js";
import { save } from "/static/saving.js";
import { modelOf, questionOf } from "/static/state.js";

const ENDINGS = { html: "html", svg: "svg", json: "json", latex: "tex" };
const SHARPNESS = 2;

function nameOf(response, format) {
  const given = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "");
  return given ? given[1] : `headlight.${ENDINGS[format]}`;
}

async function painted(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
    const canvas = element("canvas", {
      width: image.naturalWidth * SHARPNESS,
      height: image.naturalHeight * SHARPNESS,
    });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export function mountExport(page) {
  function fetched(format, read) {
    page.settle();
    const state = page.state.get();
    const mask = maskOf(state, modelOf(page.about, state.model));
    const { methods, difference } = state;
    const body = {
      ...questionOf(state),
      methods,
      mask,
      format,
      words: state.unit === "words",
      difference,
    };
    return askKindly("/api/export", body, "export", read);
  }

  async function exportFile(format) {
    const file = await fetched(format, async (response) => ({
      blob: await response.blob(),
      name: nameOf(response, format),
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
    page.settle();
    page.writeAddress();
    const field = byId("link");
    field.value = location.href;
    field.hidden = false;
    field.select();
    const isCopied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    fill(byId("link-answer"), isCopied ? "The link is copied." : "Copy the link from the field.");
  }

  for (const format of Object.keys(ENDINGS))
    byId(`export-${format}`).addEventListener("click", () => exportFile(format));
  byId("export-png").addEventListener("click", exportPicture);
  byId("copy-link").addEventListener("click", copyLink);
  page.state.listen(null, () => {
    byId("link").hidden = true;
    fill(byId("link-answer"));
  });
}
