import { drawn, element } from "./dom.js";
import { number, short } from "./numbers.js";
import { area, extent, path, scale, ticks } from "./scales.js";

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number[]} levels
 * @property {number[]} values
 * @property {{ low: number[], high: number[] }} [spread]
 * @property {boolean} [isFloor] whether the others are compared with this one
 */

/**
 * @typedef {object} AxisNames
 * @property {string} x
 * @property {string} y
 * @property {string} title what a screen reader says about the whole picture
 */

/**
 * The size of a picture, and the positions of values in it.
 * @typedef {object} Frame
 * @property {number} width
 * @property {number} height
 * @property {{ x: [number, number], y: [number, number] }} domains
 * @property {(value: number) => number} x
 * @property {(value: number) => number} y
 */

const MARGIN = { top: 12, right: 14, bottom: 44, left: 52 };
const TICKS = 5;
const STYLES = 8; // The style sheet has this many kinds of lines.

/**
 * @param {Element} box
 * @param {Series[]} series
 * @param {[number, number] | null} yRange
 * @returns {Frame}
 */
function frameOf(box, series, yRange) {
  const width = Math.max(280, Math.min(box.clientWidth || 640, 900));
  const height = Math.round(Math.min(340, Math.max(220, width * 0.55)));
  const heights = series.flatMap(({ values, spread }) => [
    ...values,
    ...(spread ? [...spread.low, ...spread.high] : []),
  ]);
  const domains = { x: extent(series.flatMap((one) => one.levels)), y: yRange ?? extent(heights) };
  return {
    width,
    height,
    domains,
    x: scale(domains.x, [MARGIN.left, width - MARGIN.right]),
    y: scale(domains.y, [height - MARGIN.bottom, MARGIN.top]),
  };
}

/**
 * @param {Frame} frame
 * @param {AxisNames} names
 */
function axes({ width, height, x, y, domains }, names) {
  const [left, right, bottom] = [MARGIN.left, width - MARGIN.right, height - MARGIN.bottom];
  const middle = (MARGIN.top + bottom) / 2;
  const rows = ticks(domains.y, TICKS).flatMap((value) => [
    drawn("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
    drawn("text", { class: "tick end", x: left - 8, y: y(value) + 4 }, short(value)),
  ]);
  const columns = ticks(domains.x, TICKS).map((value) =>
    drawn("text", { class: "tick middle", x: x(value), y: bottom + 18 }, short(value)),
  );
  const upright = { class: "tick middle", transform: `translate(12 ${middle}) rotate(-90)` };
  return [
    ...rows,
    ...columns,
    drawn("text", { class: "tick middle", x: (left + right) / 2, y: height - 6 }, names.x),
    drawn("text", upright, names.y),
  ];
}

/**
 * @param {Series} one
 * @param {number} place
 */
const lineClass = (one, place) => `series ${one.isFloor ? "floor" : `series-${place % STYLES}`}`;

/** @param {Series[]} series */
function legend(series) {
  const lines = series.map((one, place) => {
    const line = drawn("path", { class: lineClass(one, place), d: "M1 5H27" });
    const look = { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" };
    return element("li", {}, drawn("svg", look, line), one.name);
  });
  return element("ul", { class: "chart-legend" }, lines);
}

/**
 * @param {Series[]} series
 * @param {AxisNames} names
 */
function table(series, names) {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, names.x),
    series.map((one) => element("th", { scope: "col" }, one.name)),
  );
  const longest = series.reduce(
    (best, one) => (one.levels.length > best.length ? one.levels : best),
    /** @type {number[]} */ ([]),
  );
  const rows = longest.map((level, place) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, short(level)),
      series.map((one) => element("td", {}, number(one.values[place]))),
    ),
  );
  const whole = element(
    "table",
    {},
    element("caption", {}, names.y),
    element("thead", {}, head),
    element("tbody", {}, rows),
  );
  const region = { class: "scroll", tabindex: "0", role: "region" };
  return element(
    "details",
    { class: "numbers" },
    element("summary", {}, "The same as a table"),
    element("div", { ...region, "aria-label": `${names.y}, table` }, whole),
  );
}

/**
 * Lines over levels, with a legend and the same numbers as a table.
 * @param {Element} box
 * @param {Series[]} series
 * @param {AxisNames} names
 * @param {[number, number] | null} [yRange] fixes the vertical axis
 */
export function chart(box, series, names, yRange = null) {
  const frame = frameOf(box, series, yRange);
  const { width, height, x, y } = frame;
  const bands = series.flatMap(({ levels, spread }) =>
    spread
      ? [drawn("path", { class: "band", d: area(levels, spread.low, spread.high, x, y) })]
      : [],
  );
  const lines = series.map((one, place) =>
    drawn("path", { class: lineClass(one, place), d: path(one.levels, one.values, x, y) }),
  );
  const look = { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" };
  const picture = drawn(
    "svg",
    { ...look, "aria-label": names.title },
    axes(frame, names),
    bands,
    lines,
  );
  box.replaceChildren(picture, legend(series), table(series, names));
}
