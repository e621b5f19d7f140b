// The matrix: canvases with labels that stay, and the same as a table.

import { button, colours, fill, h, setAttribute, setText } from "../common/dom.js";
import { clock } from "../common/format.js";
import { drawCells, drawColumnLabels, drawRowLabels } from "./cells.js";
import { geometryOf, scrolled } from "./geometry.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, verdictText } from "./words.js";

/** Columns and rows that are drawn: a canvas of these has at most 1,024 × 3,200 points. */
const LIMITS = { columnLimit: 64, rowLimit: 200 };
/** With more agents, the columns are zones until the reader wants agents. */
const ZONES_FROM = 33;

export class Matrix {
  #model;
  #isOfAgents = true;
  /** Whether the columns are zones; null until the reader has chosen. */
  #isByZone = null;
  #isTable = false;
  #matrix = null;
  #geometry = null;
  #selected = { row: 0, column: 0 };
  #drawn = "";
  #columns = h("canvas", { class: "column-labels", "aria-hidden": "true" });
  #rows = h("canvas", { class: "row-labels", "aria-hidden": "true" });
  #canvas = h("canvas", { role: "img" });
  #marks = ["mark row-mark", "mark column-mark", "mark cell-mark"].map((name) => h("div", { class: name }));
  #grid = h("div", { class: "matrix-grid" }, h("div", { class: "corner" }), this.#columns, this.#rows,
    h("div", { class: "cells" }, this.#canvas, this.#marks));
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
      toggle("byZone", () => this.#usesZones, () => { this.#isByZone = !this.#usesZones; }),
      toggle("asTable", () => this.#isTable, () => { this.#isTable = !this.#isTable; }),
    ];
    this.#frame.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("click", (event) => this.#point(event));
    this.element = h("section", { class: "matrix", "aria-labelledby": "matrix-title" },
      h("h2", { id: "matrix-title" }, fleetText("matrix")), h("p", { class: "muted small" }, fleetText("axes"), " ",
        ["up", "down", "unreachable", "unknown"].map((state) => h("span", { class: `state ${state} key` }, `${FLEET_GLYPHS[state]} ${fleetWord("verdicts", state)}`))),
      h("div", { class: "actions" }, this.#tools.map(({ element }) => element)), this.#frame, this.#detail, this.#note);
  }

  get #usesZones() { return this.#isByZone ?? this.#model.agents.size >= ZONES_FROM; }

  recolour() { this.#drawn = ""; this.render(); }

  #refresh() {
    this.#selected = { row: 0, column: 0 };
    this.#drawn = "";
    this.render();
  }

  render() {
    this.#matrix = this.#model.matrix(this.#isOfAgents, this.#usesZones, LIMITS);
    for (const { element, get } of this.#tools) setAttribute(element, "aria-pressed", String(get()));
    const { columns, rows, hiddenColumns, hiddenRows } = this.#matrix;
    const key = JSON.stringify([columns, rows.map((row) => [row.id, row.cells.map((cell) => cell && [cell.state, cell.count])]),
      this.#isTable, colours().up]);
    if (key !== this.#drawn) {
      this.#drawn = key;
      if (this.#isTable) this.#drawTable(); else this.#draw();
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

  /** The words of the selected cell, and the marks of its row and column, which need no drawing. */
  #showSelected() {
    const { row: y, column: x } = this.#selected;
    const row = this.#matrix.rows[y];
    const column = this.#matrix.columns[x];
    const isShown = Boolean(row && column && !this.#isTable);
    setText(this.#detail, isShown ? this.#describe(row, column) : "");
    if (!isShown) return;
    const { cell } = this.#geometry;
    const [rowMark, columnMark, cellMark] = this.#marks;
    rowMark.style.top = cellMark.style.top = `${y * cell.height}px`;
    columnMark.style.left = cellMark.style.left = `${x * cell.width}px`;
    rowMark.style.height = cellMark.style.height = `${cell.height}px`;
    columnMark.style.width = cellMark.style.width = `${cell.width}px`;
  }

  #draw() {
    const { columns, rows } = this.#matrix;
    const palette = colours();
    this.#geometry = geometryOf(columns.map(({ label }) => label), rows.map(({ label }) => label));
    if (this.#grid.parentElement !== this.#frame) fill(this.#frame, this.#grid);
    const down = rows.reduce((sum, row) => sum + row.cells.filter((cell) => cell?.state === "down").length, 0);
    setAttribute(this.#canvas, "aria-label",
      fleetText("matrixLabel", { rows: rows.length, columns: columns.length, down }));
    drawColumnLabels(this.#columns, this.#geometry, palette);
    drawRowLabels(this.#rows, this.#geometry, palette);
    drawCells(this.#canvas, rows, this.#geometry, palette);
  }

  #key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move || this.#isTable) return;
    this.#select(this.#selected.row + move[0], this.#selected.column + move[1]);
    const { cell, left, top } = this.#geometry;
    const { row, column } = this.#selected;
    const frame = this.#frame;
    frame.scrollTop = scrolled(frame.scrollTop, frame.clientHeight, top + row * cell.height, cell.height, top);
    frame.scrollLeft = scrolled(frame.scrollLeft, frame.clientWidth, left + column * cell.width, cell.width, left);
    event.preventDefault();
  }

  #point(event) {
    const box = this.#canvas.getBoundingClientRect();
    const { cell } = this.#geometry;
    this.#select(Math.floor((event.clientY - box.top) / cell.height), Math.floor((event.clientX - box.left) / cell.width));
  }

  #select(row, column) {
    const { columns, rows } = this.#matrix;
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    this.#selected = { row, column };
    this.#showSelected();
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
