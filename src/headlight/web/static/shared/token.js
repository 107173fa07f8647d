import { byId, inputById } from "./dom.js";

const PLACE = "headlight-token";

/** Store the token of a link such as /#token=… for this tab, and remove it from the address. */
export function takeTokenFromAddress() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(PLACE, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

/**
 * The headers that carry the token, if there is one.
 * @returns {Record<string, string>}
 */
export function authorisation() {
  const token = sessionStorage.getItem(PLACE);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** @type {Promise<void> | null} */
let waiting = null;

/** @returns {Promise<void>} */
function asked() {
  const dialog = byId("token-dialog", HTMLDialogElement);
  return new Promise((resolve) => {
    byId("token-form").addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        sessionStorage.setItem(PLACE, inputById("token").value.trim());
        dialog.close();
      },
      { once: true },
    );
    dialog.addEventListener("close", () => resolve(), { once: true });
    dialog.showModal();
  });
}

/** Ask the user for the token, once for all requests that wait for it. */
export function askForToken() {
  waiting ??= asked().finally(() => {
    waiting = null;
  });
  return waiting;
}
