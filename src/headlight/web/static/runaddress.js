// The state of the results page in the link, and where a run is asked for.
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

export const addressOf = (run, rest = "") => `/api/runs/${encodeURIComponent(run)}${rest}`;

export function readAddress() {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  return {
    ...EMPTY,
    ...query,
    offset: Math.max(0, Math.trunc(Number(query.offset)) || 0),
    difference: query.difference === "true",
    all: query.all === "true",
  };
}

export function writeAddress(state) {
  const given = Object.entries(state).filter(([key, value]) => key in EMPTY && value);
  history.replaceState(null, "", `${location.pathname}?${new URLSearchParams(given)}`);
}
