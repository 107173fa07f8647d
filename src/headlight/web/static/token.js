import { byId } from "/static/dom.js";

const PLACE = "headlight-token";

export function takeTokenFromAddress() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(PLACE, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

export function authorisation() {
  const token = sessionStorage.getItem(PLACE);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

let waiting = null;

function asked() {
  const dialog = byId("token-dialog");
  return new Promise((resolve) => {
    byId("token-form").addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        sessionStorage.setItem(PLACE, byId("token").value.trim());
        dialog.close();
      },
      { once: true },
    );
    dialog.addEventListener("close", resolve, { once: true });
    dialog.showModal();
  });
}

export function askForToken() {
  waiting ??= asked().finally(() => {
    waiting = null;
  });
  return waiting;
}
