// One row of the list of targets. A row that has left the visible part shows another target.

import { colours, h, setAttribute, setText } from "../common/dom.js";
import { latency, share } from "../common/format.js";
import { GLYPHS, joined, text, word } from "../common/words.js";
import { drawCharts } from "./charts.js";

/** The widths of sparkline and bars in px, beside other columns and below them. */
const WIDTHS = { wide: { spark: 120, gap: 12, bars: 144 }, narrow: { spark: 60, gap: 12, bars: 96 } };

export class TargetRow {
  static #count = 0;
  #cells = Object.fromEntries(["state", "id", "chart", "share", "note"]
    .map((name) => [name, h("span", { class: `cell ${name}`, role: "gridcell" })]));
  #name = h("span", {});
  #url = h("span", { class: "url muted small" });
  #canvas = h("canvas", { class: "spark", role: "img" });
  /** What the canvas shows. */
  drawn = null;
  /** The place of its target in the list; -1 for another one than before. */
  index = -1;
  element = h("div", { class: "row", role: "row", id: `row-${TargetRow.#count += 1}` }, Object.values(this.#cells));

  constructor() {
    this.#cells.chart.append(this.#canvas);
    this.#cells.id.append(this.#name, " ", this.#url);
  }

  /** Shows a target; `isNarrow`: the charts are below the other cells. */
  draw(target, isNarrow) {
    const { element } = this;
    const cells = this.#cells;
    element.dataset.id = target.id;
    const shown = target.isFlapping ? "flapping" : target.isPending ? "pending" : target.state;
    element.className = `row ${target.state}${target.isPending || target.isFlapping ? " pending" : ""}`;
    setText(cells.state, `${GLYPHS[shown]} ${word("states", target.state)}`);
    setAttribute(cells.state, "title", word("stateHints", target.state)
      + (shown === target.state ? "" : ` ${word("flagHints", shown)}`));
    setText(this.#name, target.id);
    setText(this.#url, target.target);
    setAttribute(cells.id, "title", target.target);
    const available = share(target.series?.uptime24);
    setText(cells.share, available);
    const note = target.state === "up" ? latency(target.latency) : word("reasons", target.reason);
    setText(cells.note, joined([note, shown === target.state ? "" : word("flags", shown)]));
    setAttribute(cells.note, "title", cells.note.textContent || null);
    setAttribute(this.#canvas, "aria-label", text("barsText", { name: target.id, text: available || text("noData") }));
    this.#drawCharts(target, isNarrow ? WIDTHS.narrow : WIDTHS.wide);
  }

  /** Draws the canvas only for new series, state or scheme. */
  #drawCharts({ id, series }, widths) {
    const key = [id, series?.at, series?.spark, series?.bars24, colours().up, widths.spark].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.#canvas.hidden = !series;
    if (series) drawCharts(this.#canvas, series, widths);
  }
}
