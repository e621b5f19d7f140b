// The list of targets: only the visible rows are elements, so that ten thousand targets scroll as one does.

import { h, setAttribute } from "../common/dom.js";
import { text } from "../common/words.js";
import { TargetRow } from "./row.js";

/** Rows beyond the visible ones, above and below. */
const MARGIN = 4;

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

  get ids() { return this.#ids; }
  get visibleIDs() { return this.#visibleIDs; }

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

  move(offset) {
    const index = this.#ids.indexOf(this.#selected);
    const next = Math.max(0, Math.min(this.#ids.length - 1, index + offset));
    if (this.#ids.length > 0) this.#select(this.#ids[next]);
  }

  focus() { this.scroller.focus({ preventScroll: true }); }

  get selected() { return this.#selected; }

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
    setAttribute(row.element, "aria-selected", String(isSelected));
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
        row = this.#free.pop() || this.#addRow();
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

  #addRow() {
    const row = new TargetRow();
    this.#body.append(row.element);
    return row;
  }

  #draw(row, id) {
    const target = this.#model.targets.get(id);
    if (!target) return;
    row.draw(target, this.#narrow.matches);
    this.#mark(row, id);
  }

  redraw() {
    for (const row of this.#rows.values()) row.drawn = null;
    this.update();
  }
}
