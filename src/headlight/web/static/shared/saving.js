import { element } from "./dom.js";

/**
 * Save a file through the browser.
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * A button that saves an answer of the API unchanged.
 * @param {string} name
 * @param {object} answer
 */
export function saveButton(name, answer) {
  const click = () => {
    const content = JSON.stringify(answer, null, 1);
    save(new Blob([content], { type: "application/json" }), `headlight-${name}.json`);
  };
  const button = { type: "button", class: "quiet", id: `save-${name}`, click };
  return element("p", {}, element("button", button, "Save these numbers (JSON)"));
}
