/** @import { Cell, MetricRow, Run } from "../shared/replies.js" */
import { byId, element, fill } from "../shared/dom.js";
import { number, percent } from "../shared/numbers.js";

/** @type {Record<string, string>} */
const ARROWS = { higher: " ↑", lower: " ↓" };

/**
 * A name and a value.
 * @param {string} name
 * @param {string} value
 */
export function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value));
}

/**
 * The facts of a run that the page shows, as names and values.
 * @param {Pick<Run, "model" | "data" | "count" | "accuracy" | "missing" | "failures">} run
 * @returns {[string, string][]}
 */
export function factsOf({ model, data, count, accuracy, missing, failures }) {
  /** @type {[string, string | null][]} */
  const facts = [
    ["Model", model],
    ["Data", data],
    ["Examples", String(count)],
    ["Accuracy", accuracy === null ? null : percent(accuracy)],
    ["Unfinished jobs", missing ? String(missing) : null],
    ["Failed examples", failures ? String(failures) : null],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}

/** @param {Run} run */
export function showFacts(run) {
  fill(
    byId("facts"),
    factsOf(run).map(([name, value]) => fact(name, value)),
  );
}

/** @param {Cell | undefined} found */
function cell(found) {
  if (!found || found.mean === null) return element("td", {}, "–");
  const interval = found.low === null ? "" : `${number(found.low)} to ${number(found.high)}`;
  return element(
    "td",
    { class: found.best ? "best" : null, title: `${found.count} examples` },
    number(found.mean),
    found.best ? " ★" : "",
    element("span", { class: "interval" }, interval),
  );
}

/**
 * @param {MetricRow} row
 * @param {string} sorted
 * @param {(metric: string) => void} onSort
 */
function heading({ metric, better }, sorted, onSort) {
  const order = better === "lower" ? "ascending" : "descending";
  const label = `${metric}${better ? `, ${better} is better` : ""}. Sort`;
  const click = () => onSort(metric);
  const button = { type: "button", class: "quiet", "aria-label": label, click };
  return element(
    "th",
    { scope: "col", "aria-sort": metric === sorted ? order : null },
    element("button", button, metric, ARROWS[better] ?? ""),
  );
}

/**
 * The methods of a run, sorted by a metric, the best first; methods without a value come last.
 * @param {Pick<Run, "methods" | "table">} run
 * @param {string} metric
 */
export function ranked(run, metric) {
  const row = run.table.find((each) => each.metric === metric);
  if (!row) return run.methods;
  const sign = row.better === "lower" ? 1 : -1;
  /** @param {string} name */
  const valueOf = (name) =>
    row.cells.find(({ method }) => method === name)?.mean ?? sign * Infinity;
  return [...run.methods].sort((one, other) => sign * (valueOf(one) - valueOf(other)) || 0);
}

/**
 * Show the table of all metrics and methods.
 * @param {Run} run
 * @param {string} sorted
 * @param {(metric: string) => void} onSort
 */
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
