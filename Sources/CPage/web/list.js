// The list of targets: only the visible rows are elements, so that ten thousand targets scroll as one does.

import { colours, h, latency, prepareCanvas, setAttribute, setText, share } from "./dom.js";
import { GLYPHS, text, word } from "./words.js";

/** Rows beyond the visible ones, above and below. */
const MARGIN = 4;
/** The slots of a sparkline, one per minute, and of the bars, one per half-hour. */
const SPARK_SLOTS = 60;
const BAR_SLOTS = 48;
const CANVAS_HEIGHT = 22;
const SPARK_WIDTH = 120;
const BARS_WIDTH = 144;

/** The state of each letter in `bars24` and `bars90`. */
const BAR_STATES = { u: "up", d: "down", n: "unreachable", k: "unknown", p: "paused" };

/** The level of a letter in `spark`, 0 to 63, as in base64; null for a failed check or none. */
const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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
    setAttribute(cells.state, "title", shown === target.state ? null : word("flags", shown));
    setText(row.name, id);
    setText(row.url, target.target);
    setAttribute(cells.id, "title", target.target);
    const available = share(target.series?.uptime24);
    setText(cells.share, available);
    const note = target.state === "up" ? latency(target.latency) : word("reasons", target.reason);
    setText(cells.note, [note, shown === target.state ? "" : word("flags", shown)].filter(Boolean).join(", "));
    setAttribute(row.canvas, "aria-label", text("barsText", { name: id, text: available || text("noData") }));
    this.#mark(row, id);
    // The canvas is drawn only for new series, state or scheme.
    const key = [id, target.series?.at, target.series?.spark, target.series?.bars24, colours().up].join();
    if (row.drawn !== key) {
      row.drawn = key;
      row.canvas.hidden = !target.series;
      if (target.series) drawCharts(row.canvas, target.series);
    }
  }

  /** Draws all charts again, after the colours have changed. */
  redraw() {
    for (const row of this.#rows.values()) row.drawn = null;
    this.update();
  }
}

/** Draws the sparkline of the last hour and the bars of the last day. */
function drawCharts(canvas, series) {
  const context = prepareCanvas(canvas, SPARK_WIDTH + 12 + BARS_WIDTH, CANVAS_HEIGHT);
  const palette = colours();
  drawSpark(context, series.spark || "", palette);
  context.translate(SPARK_WIDTH + 12, 0);
  drawBars(context, series.bars24 || "", BARS_WIDTH, BAR_SLOTS, palette);
}

function drawSpark(context, spark, palette) {
  const step = SPARK_WIDTH / SPARK_SLOTS;
  const offset = SPARK_SLOTS - spark.length;
  for (let slot = 0; slot < spark.length; slot += 1) {
    const letter = spark[slot];
    const x = (offset + slot) * step;
    if (letter === "!") {
      // A failed check is a full-height mark, not a missing one.
      context.fillStyle = palette.down;
      context.fillRect(x, 0, step - 0.5, CANVAS_HEIGHT);
    } else if (letter !== ".") {
      const level = LEVELS.indexOf(letter);
      if (level < 0) continue;
      const height = 2 + (level / 63) * (CANVAS_HEIGHT - 2);
      context.fillStyle = palette.muted;
      context.fillRect(x, CANVAS_HEIGHT - height, step - 0.5, height);
    }
  }
  if (spark === "") hatch(context, SPARK_WIDTH, palette);
}

/** Draws one bar a slot in the colour of its worst state; a failed slot is higher, so that colour is not the only sign. */
export function drawBars(context, bars, width, slots, palette) {
  const step = width / slots;
  const offset = slots - bars.length;
  for (let slot = 0; slot < bars.length; slot += 1) {
    const state = BAR_STATES[bars[slot]];
    const x = (offset + slot) * step;
    if (!state) {
      context.fillStyle = palette.line;
      context.fillRect(x, CANVAS_HEIGHT - 3, step - 1, 1);
      continue;
    }
    const height = state === "up" ? CANVAS_HEIGHT * 0.55 : state === "paused" || state === "unknown" ? 6 : CANVAS_HEIGHT;
    context.fillStyle = palette[state];
    context.fillRect(x, CANVAS_HEIGHT - height, step - 1, height);
  }
  if (bars === "") hatch(context, width, palette);
}

/** Marks an area without data. */
function hatch(context, width, palette) {
  context.strokeStyle = palette.line;
  context.globalAlpha = 0.5;
  context.beginPath();
  for (let x = 0; x < width; x += 8) {
    context.moveTo(x, CANVAS_HEIGHT);
    context.lineTo(Math.min(width, x + 6), CANVAS_HEIGHT - 6);
  }
  context.stroke();
  context.globalAlpha = 1;
}
