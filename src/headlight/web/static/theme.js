// A classic script, so that the colours are right before the first paint.
(function () {
  const root = document.documentElement;
  const order = ["auto", "light", "dark"];
  let theme = localStorage.getItem("headlight-theme") || "auto";

  function apply() {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  function show(button) {
    button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
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
    show(button);
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      localStorage.setItem("headlight-theme", theme);
      apply();
      show(button);
      announce();
    });
  });
})();
