// The matrix: a canvas with glyphs, and the same as a table.

import { button, colours, fill, h, prepareCanvas, setAttribute, setText } from "../common/dom.js";
import { clock } from "../common/format.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, verdictText } from "./words.js";

const CELL = { width: 34, height: 26 };
/** Around the cells; the last column's label leans to the right. */
const MARGIN = { left: 150, top: 96, right: 56 };
const FONT = '13px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
/** The characters of a label; longer ones are cut. */
const LABEL_LENGTH = 18;
/** Columns and rows that are drawn: a canvas of these has at most 2,400 × 5,300 points. */
const LIMITS = { columnLimit: 64, rowLimit: 200 };

export class Matrix {
  #model;
  #isOfAgents = true;
  #isByZone = false;
  #isTable = false;
  #matrix = null;
  #selected = { row: 0, column: 0 };
  #drawn = "";
  #canvas = h("canvas", { role: "img" });
  #detail = h("p", { class: "matrix-detail", role: "status" });
  #note = h("p", { class: "muted small" });
  #tools;
  #frame = h("div", { class: "matrix-frame", tabindex: "0", role: "group", "aria-label": fleetText("matrix") });
  element;

  constructor(model) {
    this.#model = model;
    const toggle = (name, get, set) => (
      { get, element: button(fleetText(name), () => { set(); this.#refresh(); }, { "aria-pressed": "false" }) });
    this.#tools = [
      toggle("ofAgents", () => this.#isOfAgents, () => { this.#isOfAgents = true; }),
      toggle("ofTargets", () => !this.#isOfAgents, () => { this.#isOfAgents = false; }),
      toggle("byZone", () => this.#isByZone, () => { this.#isByZone = !this.#isByZone; }),
      toggle("asTable", () => this.#isTable, () => { this.#isTable = !this.#isTable; }),
    ];
    this.#frame.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("click", (event) => this.#point(event));
    this.element = h("section", { class: "matrix", "aria-labelledby": "matrix-title" },
      h("h2", { id: "matrix-title" }, fleetText("matrix")), h("p", { class: "muted small" }, fleetText("axes")),
      h("div", { class: "actions" }, this.#tools.map(({ element }) => element)), this.#frame, this.#detail, this.#note);
  }

  recolour() { this.#drawn = ""; this.render(); }

  #refresh() {
    this.#selected = { row: 0, column: 0 };
    this.#drawn = "";
    this.render();
  }

  render() {
    this.#matrix = this.#model.matrix(this.#isOfAgents, this.#isByZone, LIMITS);
    for (const { element, get } of this.#tools) setAttribute(element, "aria-pressed", String(get()));
    const { columns, rows, hiddenColumns, hiddenRows } = this.#matrix;
    const key = JSON.stringify([columns, rows.map((row) => [row.id, row.cells.map((cell) => cell && [cell.state, cell.count])]),
      this.#selected, this.#isTable, colours().up]);
    if (key !== this.#drawn) {
      this.#drawn = key;
      if (this.#isTable) this.#drawTable(); else this.#drawCanvas();
    }
    const isEmpty = rows.every((row) => row.cells.every((cell) => cell === null));
    setText(this.#note, isEmpty && this.#isOfAgents ? fleetText("noCells")
      : hiddenColumns + hiddenRows > 0 ? fleetText("hidden", { columns: hiddenColumns, rows: hiddenRows }) : "");
    this.#showSelected();
  }

  #describe(row, column) {
    const cell = row.cells[this.#matrix.columns.indexOf(column)];
    const values = { from: column.label || "–", to: row.label };
    if (!cell) return fleetText("cell", { ...values, state: fleetText("notChecked") });
    const state = fleetWord("verdicts", cell.state);
    const words = cell.of > 1 ? fleetText("cellOf", { ...values, state, count: cell.count, of: cell.of })
      : fleetText("cell", { ...values, state });
    return [words, reasonWord(cell.reason), cell.since ? clock(Date.parse(cell.since)) : ""].filter(Boolean).join(" · ");
  }

  #showSelected() {
    const row = this.#matrix.rows[this.#selected.row];
    const column = this.#matrix.columns[this.#selected.column];
    setText(this.#detail, row && column && !this.#isTable ? this.#describe(row, column) : "");
  }

  #drawCanvas() {
    const { columns, rows } = this.#matrix;
    const size = { width: MARGIN.left + columns.length * CELL.width + MARGIN.right, height: MARGIN.top + rows.length * CELL.height };
    this.#canvas.style.width = `${size.width}px`;
    this.#canvas.style.height = `${size.height}px`;
    fill(this.#frame, this.#canvas);
    const down = rows.reduce((sum, row) => sum + row.cells.filter((cell) => cell?.state === "down").length, 0);
    setAttribute(this.#canvas, "aria-label",
      fleetText("matrixLabel", { rows: rows.length, columns: columns.length, down }));
    const context = prepareCanvas(this.#canvas, size.width, size.height);
    const palette = colours();
    context.font = FONT;
    context.textBaseline = "middle";
    context.fillStyle = palette.text;
    columns.forEach((column, index) => {
      context.save();
      context.translate(MARGIN.left + (index + 0.5) * CELL.width, MARGIN.top - 6);
      context.rotate(-Math.PI / 3);
      context.fillText(shortened(column.label || "–", 14), 0, 0);
      context.restore();
    });
    context.textAlign = "right";
    rows.forEach((row, index) => {
      context.fillText(shortened(row.label, LABEL_LENGTH), MARGIN.left - 10, MARGIN.top + (index + 0.5) * CELL.height);
    });
    context.textAlign = "center";
    rows.forEach((row, y) => row.cells.forEach((cell, x) => this.#drawCell(context, palette, cell, x, y)));
  }

  #drawCell(context, palette, cell, x, y) {
    const [left, top] = [MARGIN.left + x * CELL.width, MARGIN.top + y * CELL.height];
    context.fillStyle = palette.panel;
    context.fillRect(left + 1, top + 1, CELL.width - 2, CELL.height - 2);
    context.fillStyle = cell ? palette[cell.state] : palette.line;
    const count = cell && cell.of > 1 && cell.state !== "up" ? cell.count : "";
    context.fillText(cell ? `${FLEET_GLYPHS[cell.state]}${count}` : "·", left + CELL.width / 2, top + CELL.height / 2 + 1);
    if (this.#selected.row === y && this.#selected.column === x) {
      context.strokeStyle = palette.text;
      context.lineWidth = 1;
      context.strokeRect(left + 1.5, top + 1.5, CELL.width - 3, CELL.height - 3);
    }
  }

  #key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move || this.#isTable) return;
    this.#select(this.#selected.row + move[0], this.#selected.column + move[1]);
    event.preventDefault();
  }

  #point(event) {
    const box = this.#canvas.getBoundingClientRect();
    this.#select(Math.floor((event.clientY - box.top - MARGIN.top) / CELL.height),
      Math.floor((event.clientX - box.left - MARGIN.left) / CELL.width));
  }

  #select(row, column) {
    const { columns, rows } = this.#matrix;
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    if (row === this.#selected.row && column === this.#selected.column) return;
    this.#selected = { row, column };
    this.#frame.scrollTop = scrolled(this.#frame.scrollTop, this.#frame.clientHeight, MARGIN.top + row * CELL.height, CELL.height);
    this.#frame.scrollLeft = scrolled(this.#frame.scrollLeft, this.#frame.clientWidth, MARGIN.left + column * CELL.width, CELL.width);
    this.render();
  }

  #drawTable() {
    const { columns, rows } = this.#matrix;
    fill(this.#frame, h("table", { class: "grid" },
      h("caption", { class: "visually-hidden" }, fleetText("matrix")),
      h("thead", {}, h("tr", {}, h("td", {}),
        columns.map((column) => h("th", { scope: "col" }, column.label || "–")))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.label),
        row.cells.map((cell) => cell
          ? h("td", { class: `state ${cell.state}`, title: reasonWord(cell.reason) || null },
            `${verdictText(cell.state)}${cell.of > 1 ? ` ${cell.count}/${cell.of}` : ""}`)
          : h("td", { class: "muted" }, "–")))))));
  }
}

/** The scroll position that shows a range, as near to the present one as possible. */
function scrolled(position, length, start, size) {
  if (start < position) return start;
  return start + size > position + length ? start + size - length : position;
}

function shortened(label, length) { return label.length > length ? `${label.slice(0, length - 1)}…` : label; }
