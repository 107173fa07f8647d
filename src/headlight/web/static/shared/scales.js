/**
 * The smallest and the largest value, with room around a single one.
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function extent(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/**
 * A function from values to positions in a picture.
 * @param {[number, number]} domain
 * @param {[number, number]} range
 * @returns {(value: number) => number}
 */
export function scale([low, high], [start, end]) {
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/**
 * Values at equal distances.
 * @param {[number, number]} domain
 * @param {number} count
 */
export function ticks([low, high], count) {
  return Array.from({ length: count }, (_, place) => low + ((high - low) * place) / (count - 1));
}

/**
 * The line through points, as an SVG path.
 * @param {number[]} levels
 * @param {number[]} values
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
export function path(levels, values, x, y) {
  return levels
    .map(
      (level, place) => `${place ? "L" : "M"}${x(level).toFixed(1)} ${y(values[place]).toFixed(1)}`,
    )
    .join("");
}

/**
 * The area between two lines over the same levels.
 * @param {number[]} levels
 * @param {number[]} low
 * @param {number[]} high
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
export function area(levels, low, high, x, y) {
  const back = path([...levels].reverse(), [...low].reverse(), x, y).replace("M", "L");
  return `${path(levels, high, x, y)}${back}Z`;
}
