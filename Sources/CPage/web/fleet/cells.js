// Draws the matrix: the labels of columns and rows, which stay when it is scrolled, and the cells.

import { prepareCanvas } from "../common/dom.js";
import { LEAN } from "./geometry.js";
import { FLEET_GLYPHS } from "./words.js";

const FONT = 'px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';

function sized(canvas, width, height) {
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = prepareCanvas(canvas, width, height);
  context.textBaseline = "middle";
  return context;
}

export function drawColumnLabels(canvas, { columnLabels, cell, width, top, right }, palette) {
  const context = sized(canvas, width + right, top);
  context.font = `12${FONT}`;
  context.fillStyle = palette.text;
  context.textAlign = "left";
  columnLabels.forEach((label, index) => {
    context.save();
    context.translate((index + 0.5) * cell.width, top - 6);
    context.rotate(-LEAN);
    context.fillText(label, 0, 0);
    context.restore();
  });
}

export function drawRowLabels(canvas, { rowLabels, cell, left, height }, palette) {
  const context = sized(canvas, left, height);
  context.font = `12${FONT}`;
  context.fillStyle = palette.text;
  context.textAlign = "right";
  rowLabels.forEach((label, index) => context.fillText(label, left - 8, (index + 0.5) * cell.height + 1));
}

/** Problems are filled with their colour; what is up is only tinted, and has a glyph where there is space. */
export function drawCells(canvas, rows, { cell, width, height }, palette) {
  const context = sized(canvas, width, height);
  const isSmall = cell.width < 24;
  context.font = `${isSmall ? 10 : 12}${FONT}`;
  context.textAlign = "center";
  rows.forEach((row, y) => row.cells.forEach((each, x) => {
    const [left, top] = [x * cell.width, y * cell.height];
    const state = each?.state;
    const isUp = state === "up";
    const isQuiet = !each || state === "paused" || state === "unknown";
    context.fillStyle = isQuiet ? palette.panel : palette[state];
    context.globalAlpha = isUp ? 0.2 : 1;
    context.fillRect(left + 0.5, top + 0.5, cell.width - 1, cell.height - 1);
    context.globalAlpha = 1;
    if ((isUp && isSmall) || (!each && isSmall)) return;
    context.fillStyle = !each ? palette.line : isUp || isQuiet ? palette[state] : palette.background;
    const count = each && each.of > 1 && !isUp && !isSmall ? each.count : "";
    context.fillText(each ? `${FLEET_GLYPHS[state]}${count}` : "·", left + cell.width / 2, top + cell.height / 2 + 1);
  }));
}
