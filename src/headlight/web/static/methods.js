import { byId, element, fill } from "/static/dom.js";
import { modelOf } from "/static/state.js";

const GROUPS = [
  ["fast", "Fast"],
  ["slow", "Slower: they ask the model many times"],
];

function choice(method) {
  const id = `method-${method.name}`;
  const box = element("input", {
    type: "checkbox",
    name: "method",
    value: method.name,
    id,
    "aria-describedby": `${id}-about`,
  });
  const sign = method.signed
    ? element("span", { class: "sign", title: "says for and against" }, "±")
    : null;
  return element(
    "div",
    {
      class: "choice",
      "data-words": `${method.name} ${method.summary} ${method.paper}`.toLowerCase(),
    },
    box,
    element("label", { for: id }, method.name, sign),
    element("p", { id: `${id}-about`, class: "soft", title: method.paper }, method.summary),
  );
}

export function mountMethods(page) {
  const list = byId("method-list");

  function build() {
    const { methods } = modelOf(page.about, page.state.get().model);
    const isChosen = ({ name }) => page.state.get().methods.includes(name);
    const fitting = page.about.methods
      .filter(({ name }) => methods.includes(name))
      .sort((one, other) => isChosen(other) - isChosen(one));
    const groups = GROUPS.map(([cost, title]) => {
      const choices = fitting.filter((method) => method.cost === cost).map(choice);
      return choices.length
        ? element(
            "div",
            { class: "group", role: "group", "aria-label": title },
            element("p", { class: "group-name" }, title),
            choices,
          )
        : null;
    });
    fill(list, groups);
    show();
    filter();
  }

  function show() {
    const { methods } = page.state.get();
    const isFull = methods.length >= page.about.limits.methods;
    for (const box of list.querySelectorAll("input")) {
      box.checked = methods.includes(box.value);
      box.disabled = isFull && !box.checked;
    }
    const most = isFull ? " – no more at a time" : "";
    fill(byId("method-count"), `${methods.length} chosen: ${methods.join(", ")}${most}`);
  }

  function filter() {
    const wanted = byId("method-filter").value.trim().toLowerCase();
    for (const node of list.querySelectorAll(".choice"))
      node.hidden = !node.dataset.words.includes(wanted);
    for (const group of list.querySelectorAll(".group"))
      group.hidden = !group.querySelector(".choice:not([hidden])");
  }

  if (matchMedia("(max-width: 560px)").matches) byId("methods-list").open = false;
  list.addEventListener("change", ({ target }) => {
    const others = page.state.get().methods.filter((name) => name !== target.value);
    const methods = target.checked ? [...others, target.value] : others;
    if (methods.length) page.state.change({ methods });
    else target.checked = true;
  });
  byId("method-filter").addEventListener("input", () => {
    byId("methods-list").open = true;
    filter();
  });
  page.state.listen(["model"], build);
  page.state.listen(["methods"], show);
  build();
}
