import { drawn, element } from "/static/dom.js";
import { number } from "/static/numbers.js";

const MARGIN = { top: 12, right: 14, bottom: 44, left: 52 };
const TICKS = 5;

function extent(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function scale([low, high], [start, end]) {
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

function ticks([low, high]) {
  return Array.from({ length: TICKS }, (_, place) => low + ((high - low) * place) / (TICKS - 1));
}

function frame({ width, height, x, y, domains, names }) {
  const bottom = height - MARGIN.bottom;
  const rows = ticks(domains.y).map((value) => [
    drawn("line", {
      class: "grid",
      x1: MARGIN.left,
      x2: width - MARGIN.right,
      y1: y(value),
      y2: y(value),
    }),
    drawn("text", { class: "tick end", x: MARGIN.left - 8, y: y(value) + 4 }, short(value)),
  ]);
  const columns = ticks(domains.x).map((value) =>
    drawn("text", { class: "tick middle", x: x(value), y: bottom + 18 }, short(value)),
  );
  const middle = (MARGIN.top + bottom) / 2;
  return [
    ...rows.flat(),
    ...columns,
    drawn(
      "text",
      { class: "tick middle", x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6 },
      names.x,
    ),
    drawn(
      "text",
      { class: "tick middle", transform: `translate(12 ${middle}) rotate(-90)` },
      names.y,
    ),
  ];
}

const short = (value) => String(Number(value.toFixed(2))).replace("-", "−");

const path = (levels, values, x, y) =>
  levels
    .map(
      (level, place) => `${place ? "L" : "M"}${x(level).toFixed(1)} ${y(values[place]).toFixed(1)}`,
    )
    .join("");

function band(one, x, y) {
  const there = path(one.levels, one.high, x, y);
  const back = path([...one.levels].reverse(), [...one.low].reverse(), x, y).replace("M", "L");
  return drawn("path", { class: "band", d: `${there}${back}Z` });
}

function line(one, place, x, y) {
  return drawn("path", {
    class: `series ${one.isFloor ? "floor" : `series-${place % 8}`}`,
    d: path(one.levels, one.values, x, y),
  });
}

function legend(series) {
  const sample = (one, place) =>
    drawn(
      "svg",
      { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
      drawn("path", {
        class: `series ${one.isFloor ? "floor" : `series-${place % 8}`}`,
        d: "M1 5H27",
      }),
    );
  return element(
    "ul",
    { class: "chart-legend" },
    series.map((one, place) => element("li", {}, sample(one, place), one.name)),
  );
}

function table(series, names) {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, names.x),
    series.map((one) => element("th", { scope: "col" }, one.name)),
  );
  const longest = series.reduce(
    (best, one) => (one.levels.length > best.length ? one.levels : best),
    [],
  );
  const rows = longest.map((level, place) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, short(level)),
      series.map((one) => element("td", {}, number(one.values[place]))),
    ),
  );
  const body = element(
    "table",
    {},
    element("caption", {}, names.y),
    element("thead", {}, head),
    element("tbody", {}, rows),
  );
  return element(
    "details",
    { class: "numbers" },
    element("summary", {}, "The same as a table"),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `${names.y}, table` },
      body,
    ),
  );
}

// series: {name, levels, values, low?, high?, isFloor?}; names: {x, y, title}; yRange fixes the vertical axis.
export function chart(box, series, names, yRange = null) {
  const width = Math.max(280, Math.min(box.clientWidth || 640, 900));
  const height = Math.round(Math.min(340, Math.max(220, width * 0.55)));
  const domains = {
    x: extent(series.flatMap((one) => one.levels)),
    y:
      yRange ??
      extent(series.flatMap((one) => [...one.values, ...(one.low ?? []), ...(one.high ?? [])])),
  };
  const x = scale(domains.x, [MARGIN.left, width - MARGIN.right]);
  const y = scale(domains.y, [height - MARGIN.bottom, MARGIN.top]);
  const picture = drawn("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": names.title,
  });
  picture.append(...frame({ width, height, x, y, domains, names }));
  picture.append(...series.filter((one) => one.low).map((one) => band(one, x, y)));
  picture.append(...series.map((one, place) => line(one, place, x, y)));
  box.replaceChildren(picture, legend(series), table(series, names));
}
