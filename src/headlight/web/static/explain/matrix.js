/** @import { PaletteFacts } from "../shared/replies.js" */
import { element } from "../shared/dom.js";
import { capital, number } from "../shared/numbers.js";
import { colourOf, isBeyond, isMarked } from "../shared/palette.js";

/**
 * What a matrix shows.
 * @typedef {object} MatrixContent
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {number[][]} matrix by row and column
 * @property {number} largest the value with the strongest colour
 * @property {string} note which columns are not in the scale
 * @property {boolean} isSigned
 * @property {PaletteFacts} palette
 * @property {string} label what a screen reader calls it
 * @property {(row: number, column: number) => string} sentence what a cell means
 * @property {(row: number) => void} [onRow] called when another row is visited
 */

/**
 * Where the labels and cells are.
 * @typedef {object} Size
 * @property {string[]} rows labels, shortened to fit
 * @property {string[]} columns
 * @property {number} left
 * @property {number} top
 * @property {number} cell
 */

const FONT = 12;
const MOST_LABEL = 110;
const GAP = 6;
/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/**
 * The width of a cell in pixels.
 * @param {number} columns
 */
export function cellSize(columns) {
  return columns > 64 ? 11 : columns > 32 ? 15 : 22;
}

/**
 * A label, shortened to the room it has.
 * @param {string} text
 * @param {(text: string) => number} widthOf
 */
export function shortened(text, widthOf) {
  let shown = text.trim() || (text.includes("\n") ? "⏎" : "␣");
  if (widthOf(shown) <= MOST_LABEL) return shown;
  while (shown.length > 1 && widthOf(`${shown}…`) > MOST_LABEL) shown = shown.slice(0, -1);
  return `${shown}…`;
}

/**
 * The cells that have a colour. The whole matrix has one scale, as in exported files.
 * @param {Pick<MatrixContent, "matrix" | "largest" | "isSigned" | "palette">} content
 */
export function colouredCells({ matrix, largest, isSigned, palette }) {
  return matrix.flatMap((scores, row) =>
    scores.flatMap((score, column) => {
      const share = score / (largest || 1);
      const colour = colourOf(share, isSigned, palette);
      return score ? [{ row, column, colour, isMarked: isMarked(share, isSigned, palette) }] : [];
    }),
  );
}

/** @param {CanvasRenderingContext2D} context */
function setFont(context) {
  context.font = `${FONT}px system-ui, sans-serif`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {MatrixContent} content
 * @returns {Size}
 */
function measured(context, content) {
  setFont(context);
  /** @param {string} text */
  const widthOf = (text) => context.measureText(text).width;
  /** @param {string[]} texts */
  const labels = (texts) => texts.map((text) => shortened(text, widthOf));
  /** @param {string[]} texts */
  const widest = (texts) => Math.max(...texts.map(widthOf), 0) + GAP;
  const [rows, columns] = [labels(content.rows), labels(content.columns)];
  const cell = cellSize(columns.length);
  return { rows, columns, left: widest(rows), top: widest(columns), cell };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 */
function drawLabels(context, { rows, columns, left, top, cell }) {
  const step = cell < FONT ? 2 : 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((name, row) => {
    if (row % step === 0) context.fillText(name, left - GAP, top + (row + 0.5) * cell);
  });
  context.textAlign = "left";
  columns.forEach((name, column) => {
    if (column % step) return;
    context.save();
    context.translate(left + (column + 0.5) * cell, top - GAP);
    context.rotate(-Math.PI / 2);
    context.fillText(name, 0, 0);
    context.restore();
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {MatrixContent} content
 */
function drawCells(context, { left, top, cell }, content) {
  for (const { row, column, colour, isMarked: hasMark } of colouredCells(content)) {
    const [x, y] = [left + column * cell, top + row * cell];
    context.fillStyle = colour;
    context.fillRect(x, y, cell - 1, cell - 1);
    if (!hasMark) continue;
    context.fillStyle = context.strokeStyle;
    context.fillRect(x + cell / 2 - 1.5, y + cell / 2 - 1, 2, 2);
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Size} size
 */
function resize(canvas, { rows, columns, left, top, cell }) {
  const [width, height] = [left + columns.length * cell, top + rows.length * cell];
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return ratio;
}

/**
 * A matrix on a canvas whose cells can be visited with the pointer or the arrow keys, and a line that says
 * what the visited cell means.
 * @param {MatrixContent} content
 * @returns {HTMLElement[]}
 */
export function matrixView(content) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const readout = element(
    "p",
    { class: "readout", "aria-live": "polite", dir: "auto" },
    "Point at a cell, or use the arrow keys.",
  );
  const label = `${content.label}. Arrow keys move between the cells.`;
  const look = { class: "scroll matrix", tabindex: "0", role: "group", "aria-label": label };
  const frame = element("div", look, canvas);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser cannot draw on a canvas.");
  const size = measured(context, content);
  let at = { row: 0, column: 0 };
  let isVisited = false;

  function draw() {
    if (!context) return;
    const ratio = resize(canvas, size);
    context.scale(ratio, ratio);
    setFont(context);
    context.fillStyle = context.strokeStyle = getComputedStyle(frame).color || "black";
    drawLabels(context, size);
    drawCells(context, size, content);
    context.lineWidth = 2;
    const [x, y] = [size.left + at.column * size.cell, size.top + at.row * size.cell];
    context.strokeRect(x - 0.5, y - 0.5, size.cell, size.cell);
  }

  function redraw() {
    if (frame.isConnected) draw();
    else document.removeEventListener("themechange", redraw);
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  function visit(row, column) {
    const value = content.matrix[row]?.[column];
    const isHere = row === at.row && column === at.column;
    if (value === undefined || (isHere && isVisited)) return;
    const isNewRow = row !== at.row;
    at = { row, column };
    isVisited = true;
    const beyond = isBeyond(value / (content.largest || 1)) ? " (beyond the scale)" : "";
    readout.textContent = `${content.sentence(row, column)}: ${number(value)}${beyond}`;
    draw();
    if (isNewRow) content.onRow?.(row);
  }

  /** @param {PointerEvent} event */
  function pointed(event) {
    const box = canvas.getBoundingClientRect();
    visit(
      Math.floor((event.clientY - box.top - size.top) / size.cell),
      Math.floor((event.clientX - box.left - size.left) / size.cell),
    );
  }

  frame.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    visit(at.row + step[0], at.column + step[1]);
  });
  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("pointerdown", pointed);
  document.addEventListener("themechange", redraw);
  requestAnimationFrame(draw);
  const note = content.note ? [element("p", { class: "soft" }, capital(content.note))] : [];
  return [frame, readout, ...note];
}
