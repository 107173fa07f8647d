import { element } from "/static/dom.js";
import { number } from "/static/numbers.js";
import { colourOf, isMarked } from "/static/palette.js";

const FONT = 12;
const MOST_LABEL = 110;
const GAP = 6;

function cellSize(columns) {
  return columns > 64 ? 11 : columns > 32 ? 15 : 22;
}

function shorten(context, text) {
  let shown = text.trim() || "␣";
  if (context.measureText(shown).width <= MOST_LABEL) return shown;
  while (shown.length > 1 && context.measureText(`${shown}…`).width > MOST_LABEL)
    shown = shown.slice(0, -1);
  return `${shown}…`;
}

function measured(context, rows, columns) {
  context.font = `${FONT}px system-ui, sans-serif`;
  const names = {
    rows: rows.map((text) => shorten(context, text)),
    columns: columns.map((text) => shorten(context, text)),
  };
  const widest = (texts) =>
    Math.max(...texts.map((text) => context.measureText(text).width), 0) + GAP;
  return {
    names,
    left: widest(names.rows),
    top: widest(names.columns),
    cell: cellSize(columns.length),
  };
}

function drawLabels(context, { names, left, top, cell }) {
  const step = cell < FONT ? 2 : 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  names.rows.forEach(
    (name, row) => row % step || context.fillText(name, left - GAP, top + (row + 0.5) * cell),
  );
  context.textAlign = "left";
  names.columns.forEach((name, column) => {
    if (column % step) return;
    context.save();
    context.translate(left + (column + 0.5) * cell, top - GAP);
    context.rotate(-Math.PI / 2);
    context.fillText(name, 0, 0);
    context.restore();
  });
}

// The whole matrix has one scale, as in the files that are exported.
function drawCells(context, { left, top, cell }, { matrix, largest, isSigned, palette }) {
  matrix.forEach((scores, row) => {
    scores.forEach((score, column) => {
      const share = score / (largest || 1);
      if (!score) return;
      context.fillStyle = colourOf(share, isSigned, palette);
      context.fillRect(left + column * cell, top + row * cell, cell - 1, cell - 1);
      if (isMarked(share, isSigned, palette)) {
        context.fillStyle = context.strokeStyle;
        context.fillRect(left + (column + 0.5) * cell - 1.5, top + (row + 0.5) * cell - 1, 2, 2);
      }
    });
  });
}

// content: rows, columns, matrix[row][column], largest, isSigned, palette, label, sentence(row, column), onRow(row)
export function matrixView(content) {
  const { rows, columns, matrix } = content;
  const canvas = element("canvas", { "aria-hidden": "true" });
  const readout = element(
    "p",
    { class: "readout", "aria-live": "polite", dir: "auto" },
    "Point at a cell, or use the arrow keys.",
  );
  const frame = element(
    "div",
    {
      class: "scroll matrix",
      tabindex: "0",
      role: "group",
      "aria-label": `${content.label}. Arrow keys move between the cells.`,
    },
    canvas,
  );
  const context = canvas.getContext("2d");
  const size = measured(context, rows, columns);
  let at = { row: 0, column: 0 };

  function draw() {
    const [width, height] = [
      size.left + columns.length * size.cell,
      size.top + rows.length * size.cell,
    ];
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    context.font = `${FONT}px system-ui, sans-serif`;
    const ink = getComputedStyle(frame).color || "black";
    context.fillStyle = ink;
    context.strokeStyle = ink;
    drawLabels(context, size);
    drawCells(context, size, content);
    context.lineWidth = 2;
    context.strokeRect(
      size.left + at.column * size.cell - 0.5,
      size.top + at.row * size.cell - 0.5,
      size.cell,
      size.cell,
    );
  }

  function redraw() {
    if (frame.isConnected) draw();
    else document.removeEventListener("themechange", redraw);
  }

  function visit(row, column) {
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    if (row === at.row && column === at.column && readout.dataset.visited) return;
    const isNewRow = row !== at.row;
    at = { row, column };
    readout.dataset.visited = "yes";
    readout.textContent = `${content.sentence(row, column)}: ${number(matrix[row][column])}`;
    draw();
    if (isNewRow) content.onRow?.(row);
  }

  function pointed(event) {
    const box = canvas.getBoundingClientRect();
    visit(
      Math.floor((event.clientY - box.top - size.top) / size.cell),
      Math.floor((event.clientX - box.left - size.left) / size.cell),
    );
  }

  frame.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[
      event.key
    ];
    if (!step) return;
    event.preventDefault();
    visit(at.row + step[0], at.column + step[1]);
  });
  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("pointerdown", pointed);
  document.addEventListener("themechange", redraw);
  requestAnimationFrame(draw);
  return [frame, readout];
}
