import { element } from "/static/dom.js";

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Saves an answer of the API as it came.
export function saveButton(name, answer) {
  const click = () => {
    const content = JSON.stringify(answer, null, 1);
    save(new Blob([content], { type: "application/json" }), `headlight-${name}.json`);
  };
  const button = element("button", { type: "button", class: "quiet", id: `save-${name}`, click });
  button.append("Save these numbers (JSON)");
  return element("p", {}, button);
}
