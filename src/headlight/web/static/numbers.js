export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000 || size < 0.001) return value.toExponential(1).replaceAll("-", "−");
  return value.toFixed(size >= 10 ? 1 : 3).replace("-", "−");
}

export function probability(value) {
  if (value === null || value === undefined) return "–";
  return value.toFixed(2).replace("-", "−");
}

export const percent = (share) => `${Math.round(share * 100)} %`;

export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

export function quoted(label) {
  return `‘${String(label).trim()}’`;
}
