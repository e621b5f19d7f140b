// The list of targets: only the visible rows are elements, so that ten thousand targets scroll as one does.

import { h, setAttribute, setText } from "../common/dom.js";
import { afterRest } from "../common/pacing.js";
import { text } from "../common/words.js";
import { ChartTip } from "./charttip.js";
import { listHeader } from "./listheader.js";
import { Rows } from "./rows.js";
import { Viewport } from "./viewport.js";

/** Rows beyond the visible ones, above and below. */
const MARGIN = 4;
/** The rows of a printed list. */
const PRINT_LIMIT = 2000;
/** The width of the charts where they are below the other cells, in px, as in page.css. */
const NARROW_CHART = 168;

export class TargetList {
  #model;
  #handler;
  #rows = new Rows((row, line) => this.#draw(row, line), (key) => {
    // The element will show another target.
    if (key === this.#selected) setAttribute(this.scroller, "aria-activedescendant", null);
  });
  #lines = [];
  /** The places of the lines by their keys. */
  #places = new Map();
  #selected = null;
  /** A target to scroll to, as soon as it has a line. */
  #revealed = null;
  #chartWidth = 0;
  #isPrinting = false;
  #visibleIDs = [];
  /** As in page.css. */
  #narrow = matchMedia("(max-width: 900px)");
  #header = listHeader();
  #tip = new ChartTip();
  scroller = h("div", { class: "scroller", role: "grid", tabindex: "0", "aria-label": text("targets") }, this.#header, this.#rows.body);
  #viewport = new Viewport(this.scroller, this.#header);
  /** What a printed list leaves out. */
  printNote = h("p", { class: "print-note muted" });

  /** `handler` has `onOpen(id)`, `onToggle(line)` for a group or a target with others behind it, and `onVisible()`. */
  constructor(model, handler) {
    this.#model = model;
    this.#handler = handler;
    const reportSoon = afterRest(120, () => this.#reportVisible());
    this.scroller.addEventListener("scroll", () => { this.#place(); reportSoon(); }, { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.scroller.addEventListener("click", (event) => this.#click(event));
    this.#tip.follow(this.scroller, (element) => this.#model.targets.get(element.closest("[data-id]")?.dataset.id));
    this.#narrow.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
  }

  get visibleIDs() { return this.#visibleIDs; }
  get tip() { return this.#tip.element; }
  /** The id of the selected target; null for a group or without a selection. */
  get selected() { return this.#model.targets.has(this.#selected) ? this.#selected : null; }
  get #selectedLine() { return this.#lines[this.#places.get(this.#selected)]; }

  show(lines) {
    this.#lines = lines;
    this.#places = new Map(lines.map(({ key }, index) => [key, index]));
    setAttribute(this.scroller, "aria-rowcount", lines.length + 1);
    this.#rows.body.style.height = `${lines.length * this.#viewport.rowHeight}px`;
    if (this.#places.has(this.#revealed)) this.#scrollTo(this.#revealed, true);
    this.#place();
    this.#reportVisible();
  }

  /** Draws the given targets again if they are visible; all visible ones without an argument. */
  update(ids = null) {
    for (const row of this.#rows.values()) if (row.line.kind === "target" && (ids === null || ids.has(row.line.id))) this.#draw(row, row.line);
  }

  /** Updates what depends on the time only. */
  tick() { for (const row of this.#rows.values()) row.tick(); }

  /** Reads the height of a row from the style sheet, which depends on the pointer and the width, and the width of the charts. */
  resize() {
    const height = parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row-height")) || 32;
    if (height !== this.#viewport.rowHeight) {
      this.#viewport.rowHeight = height;
      this.#rows.body.style.height = `${this.#lines.length * height}px`;
      this.#rows.forgetPlaces();
    }
    const width = this.#narrow.matches ? NARROW_CHART : this.#header.querySelector(".chart").clientWidth;
    if (width !== this.#chartWidth) {
      this.#chartWidth = width;
      this.update();
    }
    if (this.#places.has(this.#revealed)) this.#scrollTo(this.#revealed, true);
    this.#place();
    this.#reportVisible();
  }

  move(offset) {
    if (this.#lines.length === 0) return;
    const next = Math.max(0, Math.min(this.#lines.length - 1, (this.#places.get(this.#selected) ?? -1) + offset));
    this.focus();
    this.#select(this.#lines[next].key);
  }

  focus() { this.scroller.focus({ preventScroll: true }); }

  open() {
    const line = this.#selectedLine;
    if (line?.kind === "group") this.#handler.onToggle(line);
    else if (line) this.#handler.onOpen(line.id);
  }

  #key(event) {
    const { page } = this.#viewport;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const line = this.#selectedLine;
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Enter") this.open();
    else if (event.key === " " && (line?.kind === "group" || line?.behind > 0)) this.#handler.onToggle(line);
    else if (!this.#tip.move(event.key, this.#rows.get(this.#selected), this.#model.targets.get(this.#selected))) return;
    event.preventDefault();
  }

  #click(event) {
    const line = this.#lines[this.#places.get(event.target.closest("[data-key]")?.dataset.key)];
    if (!line) return;
    this.#select(line.key);
    if (line.kind === "group" || event.target.closest(".behind")) this.#handler.onToggle(line);
    else this.#handler.onOpen(line.id);
  }

  /** Selects a target and scrolls to it, now or when it has a line. */
  reveal(id) {
    const old = this.#selected;
    this.#selected = this.#revealed = id;
    if (!this.#rows.get(id)) setAttribute(this.scroller, "aria-activedescendant", null);
    if (this.#places.has(id)) this.#scrollTo(id, true);
    this.#place();
    this.update(new Set([old, id]));
  }

  #scrollTo(key, isCentered = false) {
    // Where the details take the place of the list, it scrolls when it is shown again.
    if (this.#viewport.scrollTo(this.#places.get(key), isCentered)) this.#revealed = null;
  }

  #select(key) {
    const old = this.#selected;
    this.#selected = key;
    this.#tip.hide();
    this.#scrollTo(key);
    this.#place();
    for (const changed of [old, key]) if (this.#rows.get(changed)) this.#mark(this.#rows.get(changed), changed);
  }

  #mark(row, key) {
    const isSelected = key === this.#selected;
    setAttribute(row.element, "aria-selected", String(isSelected));
    if (isSelected) setAttribute(this.scroller, "aria-activedescendant", row.element.id);
  }

  /** The numbers of the visible lines; paper does not scroll. */
  #range(margin) {
    const count = this.#lines.length;
    return this.#isPrinting ? [0, Math.min(count, PRINT_LIMIT)] : this.#viewport.range(count, margin);
  }

  #place() {
    const [first, end] = this.#range(MARGIN);
    this.#rows.place(this.#lines.slice(first, end), first, this.#viewport.rowHeight);
  }

  #draw(row, line) {
    const target = line.kind === "target" ? this.#model.targets.get(line.id) : null;
    if (line.kind === "group") row.draw(line); else if (target) row.draw(target, line, this.#chartWidth); else return;
    this.#mark(row, line.key);
  }

  #reportVisible() {
    const [first, end] = this.#range(0);
    this.#visibleIDs = this.#lines.slice(first, end).filter(({ kind }) => kind === "target").map(({ id }) => id);
    this.#handler.onVisible();
  }

  /** Paper has all rows, as far as they fit into a document. */
  #print(isPrinting) {
    this.#isPrinting = isPrinting;
    const left = this.#lines.length - PRINT_LIMIT;
    setText(this.printNote, left > 0 ? text("printLimit", { count: left }) : "");
    this.#place();
  }

  redraw() {
    this.resize();
    for (const row of this.#rows.values()) row.drawn = null;
    this.update();
  }
}
