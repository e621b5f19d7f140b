// One row of the list of targets. A row that has left the visible part shows another target.

import { colours, h, setAttribute, setText } from "../common/dom.js";
import { latency, now, share, shortDuration } from "../common/format.js";
import { dotted, GLYPHS, text, units, word } from "../common/words.js";
import { drawCharts } from "./charts.js";
import { barsSummary, HALF_HOUR } from "./slots.js";

export class TargetRow {
  static #count = 0;
  #cells = Object.fromEntries(["state", "id", "for", "chart", "share", "note"]
    .map((name) => [name, h("span", { class: `cell ${name}`, role: "gridcell" })]));
  #name = h("span", {});
  #url = h("span", { class: "url muted small" });
  #behind = h("button", { type: "button", tabindex: "-1", class: "behind small", hidden: true });
  #canvas = h("canvas", { class: "spark", role: "img" });
  #since = null;
  /** What the canvas shows. */
  drawn = null;
  line = null;
  /** The place of its target in the list; -1 for another one than before. */
  index = -1;
  element = h("div", { class: "row", role: "row", id: `row-${TargetRow.#count += 1}` }, Object.values(this.#cells));

  constructor() {
    this.#cells.chart.append(this.#canvas);
    this.#cells.id.append(this.#name, this.#behind, this.#url);
  }

  /** Shows a target in a line of the list; `width` is that of the charts. */
  draw(target, line, width) {
    const { element } = this;
    const cells = this.#cells;
    this.line = line;
    this.#since = target.since;
    element.dataset.id = element.dataset.key = target.id;
    const shown = target.isFlapping ? "flapping" : target.isPending ? "pending" : target.state;
    element.className = `row ${target.state}${shown === target.state ? "" : " pending"}${line.level > 0 ? " dependent" : ""}`;
    setText(cells.state, `${GLYPHS[shown]} ${word("states", target.state)}`);
    setAttribute(cells.state, "title", word("stateHints", target.state)
      + (shown === target.state ? "" : ` ${word("flagHints", shown)}`));
    setText(this.#name, target.id);
    setText(this.#url, target.target);
    setAttribute(cells.id, "title", target.target);
    this.#drawBehind(line);
    const available = share(target.series?.uptime24);
    setText(cells.share, available);
    const note = target.state === "up" ? latency(target.latency) : word("reasons", target.reason);
    setText(cells.note, dotted([note, shown === target.state ? "" : word("flags", shown)]));
    setAttribute(cells.note, "title", cells.note.textContent || null);
    const bars = target.series?.bars24;
    setAttribute(this.#canvas, "aria-label", text("barsText", { text: bars ? barsSummary(bars, HALF_HOUR) : text("noData") }));
    this.#drawCharts(target, width);
    this.tick();
  }

  /** How many targets depend on this one, which are folded behind it. */
  #drawBehind({ behind, isOpen }) {
    this.#behind.hidden = behind === 0;
    if (behind === 0) return;
    setAttribute(this.#behind, "title", text("behindHint", { count: behind }));
    setText(this.#behind, `${isOpen ? "▾" : "▸"} ${text("behind", { count: behind })}`);
    setAttribute(this.#behind, "aria-expanded", String(isOpen));
  }

  /** How long the target has had its state. */
  tick() { setText(this.#cells.for, this.#since > 0 ? shortDuration(now() - this.#since, units()) : ""); }

  /** Draws the canvas only for new series, size or scheme. */
  #drawCharts({ id, series }, width) {
    const key = [id, series?.at, series?.spark, series?.bars24, colours().up, width].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.#canvas.hidden = !series || width < 100;
    if (!this.#canvas.hidden) drawCharts(this.#canvas, series, width);
  }
}
