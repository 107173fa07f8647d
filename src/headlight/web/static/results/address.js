/**
 * What a link to the results page restores.
 * @typedef {object} State
 * @property {string} run
 * @property {string} sort the metric by which methods are sorted
 * @property {boolean} all whether the curves of all methods are shown
 * @property {string} metric
 * @property {string} first
 * @property {string} second
 * @property {number} offset
 * @property {boolean} difference
 */

/** @type {State} */
export const EMPTY = {
  run: "",
  sort: "",
  all: false,
  metric: "",
  first: "",
  second: "",
  offset: 0,
  difference: false,
};

/**
 * The route of a run on the server.
 * @param {string} run
 * @param {string} [rest]
 */
export const routeOf = (run, rest = "") => `/api/runs/${encodeURIComponent(run)}${rest}`;

/**
 * The state in an address.
 * @param {string} search the query, after the path
 * @returns {State}
 */
export function readQuery(search) {
  const query = new URLSearchParams(search);
  /** @param {string} key */
  const text = (key) => query.get(key) ?? "";
  return {
    run: text("run"),
    sort: text("sort"),
    metric: text("metric"),
    first: text("first"),
    second: text("second"),
    offset: Math.max(0, Math.trunc(Number(text("offset"))) || 0),
    difference: text("difference") === "true",
    all: text("all") === "true",
  };
}

/**
 * A state as the end of an address; empty values are left out.
 * @param {State} state
 */
export function writeQuery(state) {
  const given = Object.entries(state).filter(([, value]) => value);
  return `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
