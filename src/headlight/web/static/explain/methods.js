/** @import { MethodFacts } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { byId, element, fill, inputById } from "../shared/dom.js";
import { modelOf } from "./page.js";

/** @type {[MethodFacts["cost"], string][]} */
const GROUPS = [
  ["fast", "Fast"],
  ["slow", "Slower: they run the model many times"],
];

/** @param {MethodFacts} method */
function choice(method) {
  const id = `method-${method.name}`;
  const box = { type: "checkbox", name: "method", value: method.name, id };
  const sign = element("span", { class: "sign", title: "shows for and against" }, "±");
  const words = `${method.name} ${method.summary} ${method.paper}`.toLowerCase();
  return element(
    "div",
    { class: "choice", "data-words": words },
    element("input", { ...box, "aria-describedby": `${id}-about` }),
    element("label", { for: id }, method.name, method.signed ? sign : null),
    element("p", { id: `${id}-about`, class: "soft", title: method.paper }, method.summary),
  );
}

/**
 * The methods of a group; null if it has none.
 * @param {string} title
 * @param {MethodFacts[]} methods
 */
function groupOf(title, methods) {
  if (!methods.length) return null;
  return element(
    "div",
    { class: "group", role: "group", "aria-label": title },
    element("p", { class: "group-name" }, title),
    methods.map(choice),
  );
}

/**
 * Set up the list of methods.
 * @param {Page} page
 */
export function mountMethods(page) {
  const list = byId("method-list");
  const details = byId("methods-list", HTMLDetailsElement);
  /** @returns {NodeListOf<HTMLInputElement>} */
  const boxes = () => list.querySelectorAll("input");

  function build() {
    const chosen = page.state.get().methods;
    const { methods } = modelOf(page);
    const fitting = page.about.get().methods.filter(({ name }) => methods.includes(name));
    const sorted = [
      ...fitting.filter(({ name }) => chosen.includes(name)),
      ...fitting.filter(({ name }) => !chosen.includes(name)),
    ];
    fill(
      list,
      GROUPS.map(([cost, title]) =>
        groupOf(
          title,
          sorted.filter((each) => each.cost === cost),
        ),
      ),
    );
    show();
    filter();
  }

  function show() {
    const { methods } = page.state.get();
    const isFull = methods.length >= page.about.get().limits.methods;
    for (const box of boxes()) {
      box.checked = methods.includes(box.value);
      box.disabled = isFull && !box.checked;
    }
    const most = isFull ? " (the most at a time)" : "";
    fill(byId("method-count"), `${methods.length} chosen: ${methods.join(", ")}${most}`);
  }

  function filter() {
    const wanted = inputById("method-filter").value.trim().toLowerCase();
    for (const node of list.querySelectorAll(".choice"))
      node.toggleAttribute("hidden", !node.getAttribute("data-words")?.includes(wanted));
    for (const group of list.querySelectorAll(".group"))
      group.toggleAttribute("hidden", !group.querySelector(".choice:not([hidden])"));
  }

  function choose() {
    const checked = [...boxes()].filter((box) => box.checked).map((box) => box.value);
    const kept = page.state.get().methods.filter((name) => checked.includes(name));
    const added = checked.filter((name) => !kept.includes(name));
    if (checked.length) page.state.change({ methods: [...kept, ...added] });
    else show();
  }

  if (matchMedia("(max-width: 560px)").matches) details.open = false;
  list.addEventListener("change", choose);
  byId("method-filter").addEventListener("input", () => {
    details.open = true;
    filter();
  });
  page.state.listen(["model"], build);
  page.state.listen(["methods"], show);
  build();
}
