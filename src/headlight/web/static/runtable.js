import { byId, element, fill } from "/static/dom.js";
import { number, percent } from "/static/numbers.js";

const ARROWS = { higher: "↑", lower: "↓" };

export function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value));
}

export function showFacts(run) {
  const facts = [
    fact("Model", run.model),
    fact("Data", run.data),
    fact("Examples", String(run.count)),
  ];
  if (run.accuracy !== null && run.accuracy !== undefined)
    facts.push(fact("The model is right in", percent(run.accuracy)));
  if (run.missing) facts.push(fact("Still missing", String(run.missing)));
  if (run.failures) facts.push(fact("Failures", String(run.failures)));
  fill(byId("facts"), facts);
}

function cell(found) {
  if (!found || found.mean === null) return element("td", {}, "–");
  const interval =
    found.low === null || found.low === undefined
      ? ""
      : `${number(found.low)} to ${number(found.high)}`;
  return element(
    "td",
    { class: found.best ? "best" : null, title: `${found.count} examples` },
    number(found.mean),
    found.best ? " ★" : "",
    element("span", { class: "interval" }, interval),
  );
}

function heading({ metric, better }, sorted, onSort) {
  const isSorted = metric === sorted;
  const order = better === "lower" ? "ascending" : "descending";
  const words = [metric, ARROWS[better] ? ` ${ARROWS[better]}` : ""];
  const label = `${metric}${better ? `, ${better} is better` : ""}. Sort`;
  return element(
    "th",
    { scope: "col", "aria-sort": isSorted ? order : null },
    element(
      "button",
      { type: "button", class: "quiet", "aria-label": label, click: () => onSort(metric) },
      words,
    ),
  );
}

export function ranked(run, metric) {
  const row = run.table.find((each) => each.metric === metric);
  if (!row) return run.methods;
  const sign = row.better === "lower" ? 1 : -1;
  const valueOf = (name) =>
    row.cells.find(({ method }) => method === name)?.mean ?? sign * Infinity;
  return [...run.methods].sort((one, other) => sign * (valueOf(one) - valueOf(other)) || 0);
}

export function showTable(run, sorted, onSort) {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "method"),
    run.table.map((row) => heading(row, sorted, onSort)),
  );
  const rows = ranked(run, sorted).map((name) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      run.table.map(({ cells }) => cell(cells.find(({ method }) => method === name))),
    ),
  );
  fill(
    byId("table"),
    element("table", { class: "sticky" }, element("thead", {}, head), element("tbody", {}, rows)),
  );
}
