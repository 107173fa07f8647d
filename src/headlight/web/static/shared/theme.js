// A classic script, so that the colours are right before the first paint.
(function () {
  /** @typedef {"auto" | "light" | "dark"} Theme */

  const PLACE = "headlight-theme";
  const SIGNS = { auto: "◐", light: "☀", dark: "☾" };
  const order = /** @type {Theme[]} */ (Object.keys(SIGNS));
  const root = document.documentElement;
  let theme = order.find((each) => each === localStorage.getItem(PLACE)) ?? "auto";

  function apply() {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  /** @param {HTMLElement} button */
  function show(button) {
    button.textContent = SIGNS[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
    button.title = `Colours: ${theme}`;
  }

  function announce() {
    document.dispatchEvent(new Event("themechange"));
  }

  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    show(button);
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      localStorage.setItem(PLACE, theme);
      apply();
      show(button);
      announce();
    });
  });
})();
