// The list of targets: only the visible rows are elements, so that ten thousand targets scroll as one does.

import { drawCharts } from "./charts.js";
import { colours, h, latency, setAttribute, setText, share } from "./dom.js";
import { GLYPHS, joined, text, word } from "./words.js";

/** Rows beyond the visible ones, above and below. */
const MARGIN = 4;
/** The widths of sparkline and bars in px, beside other columns and below them. */
const WIDTHS = { wide: { spark: 120, gap: 12, bars: 144 }, narrow: { spark: 60, gap: 12, bars: 96 } };

export class TargetList {
  #model;
  #onOpen;
  #onVisible;
  #rows = new Map();
  #free = [];
  #ids = [];
  #selected = null;
  #rowHeight = 36;
  #body = h("div", { class: "rows" });
  #visibleIDs = [];
  /** As in page.css. */
  #narrow = matchMedia("(max-width: 900px)");
  /** The titles of the columns, above the scroller. */
  header = h("div", { class: "row titles", "aria-hidden": "true" }, ["state", "target", "charts", "availability", "latencyOrReason"]
    .map((name) => h("span", { class: `cell ${{ charts: "chart", availability: "share", latencyOrReason: "note" }[name] ?? name}` },
      name === "charts" ? [h("span", {}, text("lastHour")), h("span", {}, text("day"))] : text(name))));
  scroller = h("div", { class: "scroller", role: "grid", tabindex: "0", "aria-label": text("targets") }, this.#body);

  /** `onOpen` is called with the id of a row that was chosen, `onVisible` when scrolling rests. */
  constructor(model, { onOpen, onVisible }) {
    this.#model = model;
    this.#onOpen = onOpen;
    this.#onVisible = onVisible;
    let timer = null;
    this.scroller.addEventListener("scroll", () => {
      this.#place();
      clearTimeout(timer);
      timer = setTimeout(() => this.#reportVisible(), 120);
    }, { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.scroller.addEventListener("click", (event) => {
      const row = event.target.closest("[data-id]");
      if (row) { this.#select(row.dataset.id); this.#onOpen(row.dataset.id); }
    });
    this.#narrow.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.scroller);
  }

  /** The ids in the order of the list. */
  get ids() { return this.#ids; }
  get visibleIDs() { return this.#visibleIDs; }

  /** Replaces the order. */
  show(ids) {
    this.#ids = ids;
    setAttribute(this.scroller, "aria-rowcount", ids.length);
    this.#body.style.height = `${ids.length * this.#rowHeight}px`;
    this.#place();
    this.#reportVisible();
  }

  /** Draws the given targets again if they are visible; all visible ones without an argument. */
  update(ids = null) {
    for (const [id, row] of this.#rows) if (ids === null || ids.has(id)) this.#draw(row, id);
  }

  /** Reads the height of a row from the style sheet, which depends on the pointer and the width. */
  resize() {
    const height = parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row-height")) || 36;
    if (height !== this.#rowHeight) {
      this.#rowHeight = height;
      this.#body.style.height = `${this.#ids.length * height}px`;
      for (const row of this.#rows.values()) row.index = -1;
    }
    this.#place();
    this.#reportVisible();
  }

  /** Moves the selection by a number of rows. */
  move(offset) {
    const index = this.#ids.indexOf(this.#selected);
    const next = Math.max(0, Math.min(this.#ids.length - 1, index + offset));
    if (this.#ids.length > 0) this.#select(this.#ids[next]);
  }

  /** Moves the keyboard to the list. */
  focus() { this.scroller.focus({ preventScroll: true }); }

  /** The selected target, or null. */
  get selected() { return this.#selected; }

  /** Opens the selected target. */
  open() { if (this.#selected !== null) this.#onOpen(this.#selected); }

  #key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.#rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Enter") this.open();
    else return;
    event.preventDefault();
  }

  /** Selects a target without scrolling to it. */
  mark(id) {
    const old = this.#selected;
    this.#selected = id;
    if (!this.#rows.has(id)) setAttribute(this.scroller, "aria-activedescendant", null);
    this.update(new Set([old, id]));
  }

  #select(id) {
    const old = this.#selected;
    this.#selected = id;
    const top = this.#ids.indexOf(id) * this.#rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.#rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + this.#rowHeight - clientHeight;
    this.#place();
    for (const changed of [old, id]) {
      const row = this.#rows.get(changed);
      if (row) this.#mark(row, changed);
    }
  }

  #mark(row, id) {
    const isSelected = id === this.#selected;
    setAttribute(row.element, "aria-selected", isSelected ? "true" : "false");
    if (isSelected) setAttribute(this.scroller, "aria-activedescendant", row.element.id);
  }

  /** Gives each visible target a row and takes the rows of the others back. */
  #place() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#rowHeight) - MARGIN);
    const end = Math.min(this.#ids.length, Math.ceil((scrollTop + clientHeight) / this.#rowHeight) + MARGIN);
    const shown = new Set(this.#ids.slice(first, end));
    for (const [id, row] of this.#rows) {
      if (shown.has(id)) continue;
      this.#rows.delete(id);
      this.#free.push(row);
      // The element will show another target.
      if (id === this.#selected) setAttribute(this.scroller, "aria-activedescendant", null);
    }
    for (let index = first; index < end; index += 1) {
      const id = this.#ids[index];
      let row = this.#rows.get(id);
      if (!row) {
        row = this.#free.pop() || this.#makeRow();
        row.index = -1;
        this.#rows.set(id, row);
        row.element.hidden = false;
        this.#draw(row, id);
      }
      if (row.index !== index) {
        row.index = index;
        // Not a transform, which would make the compositor build its layers again in each frame.
        row.element.style.top = `${index * this.#rowHeight}px`;
        setAttribute(row.element, "aria-rowindex", index + 1);
      }
    }
    for (const row of this.#free) row.element.hidden = true;
  }

  #reportVisible() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#rowHeight));
    const end = Math.min(this.#ids.length, Math.ceil((scrollTop + clientHeight) / this.#rowHeight));
    this.#visibleIDs = this.#ids.slice(first, end);
    this.#onVisible();
  }

  #makeRow() {
    const cell = (name) => h("span", { class: `cell ${name}`, role: "gridcell" });
    const cells = { state: cell("state"), id: cell("id"), chart: cell("chart"), share: cell("share"), note: cell("note") };
    const canvas = h("canvas", { class: "spark", role: "img" });
    cells.chart.append(canvas);
    const [name, url] = [h("span", {}), h("span", { class: "url muted small" })];
    cells.id.append(name, " ", url);
    const element = h("div", { class: "row", role: "row", id: `row-${TargetList.#count += 1}` }, Object.values(cells));
    this.#body.append(element);
    return { element, cells, canvas, name, url, index: -1, drawn: null };
  }

  static #count = 0;

  #draw(row, id) {
    const target = this.#model.targets.get(id);
    if (!target) return;
    const { cells, element } = row;
    element.dataset.id = id;
    const shown = target.isFlapping ? "flapping" : target.isPending ? "pending" : target.state;
    element.className = `row ${target.state}${target.isPending || target.isFlapping ? " pending" : ""}`;
    setText(cells.state, `${GLYPHS[shown]} ${word("states", target.state)}`);
    setAttribute(cells.state, "title", word("stateHints", target.state)
      + (shown === target.state ? "" : ` ${word("flagHints", shown)}`));
    setText(row.name, id);
    setText(row.url, target.target);
    setAttribute(cells.id, "title", target.target);
    const available = share(target.series?.uptime24);
    setText(cells.share, available);
    const note = target.state === "up" ? latency(target.latency) : word("reasons", target.reason);
    setText(cells.note, joined([note, shown === target.state ? "" : word("flags", shown)]));
    setAttribute(cells.note, "title", cells.note.textContent || null);
    setAttribute(row.canvas, "aria-label", text("barsText", { name: id, text: available || text("noData") }));
    this.#mark(row, id);
    // The canvas is drawn only for new series, state or scheme.
    const widths = this.#narrow.matches ? WIDTHS.narrow : WIDTHS.wide;
    const key = [id, target.series?.at, target.series?.spark, target.series?.bars24, colours().up, widths.spark].join();
    if (row.drawn !== key) {
      row.drawn = key;
      row.canvas.hidden = !target.series;
      if (target.series) drawCharts(row.canvas, target.series, widths);
    }
  }

  /** Draws all charts again, after the colours have changed. */
  redraw() {
    for (const row of this.#rows.values()) row.drawn = null;
    this.update();
  }
}
