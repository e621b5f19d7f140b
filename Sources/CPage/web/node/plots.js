// The charts of a target's latencies and states, whose values the pointer and the arrow keys select.

import { button, colours, h, prepareCanvas, setText } from "../common/dom.js";
import { latency } from "../common/format.js";
import { joined, text } from "../common/words.js";
import { drawBars } from "./charts.js";
import { drawPlot, nearestPoint, pointText } from "./plot.js";
import { barsSummary, barText } from "./slots.js";
import { WINDOWS } from "./targetreader.js";

/** The widest plot in px, and the margins of the panel. */
const PLOT_LIMIT = 640;
const PANEL_MARGIN = 33;
const BARS_HEIGHT = 24;

function rangeText(points) {
  const values = points.map((point) => point.quantiles["0.5"]).filter((value) => typeof value === "number");
  if (values.length === 0) return text("onlyFailures");
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => latency(sorted[Math.floor(part * (sorted.length - 1))] * 1e6);
  return joined([`${text("min")} ${at(0)}`, `${text("median")} ${at(0.5)}`, `${text("max")} ${at(1)}`]);
}

export class Plots {
  #onWindow;
  #panel;
  #window = "24h";
  /** The point and the bar that the pointer or the arrow keys have selected. */
  #marks = { latencies: null, bars: null };
  /** While the panel is filled again, a chart that is replaced loses the keyboard, not its mark. */
  isReplaced = false;

  /** `panel()` is the element of the charts; `onWindow` is called after the reader has selected another window. */
  constructor(panel, onWindow) {
    this.#panel = panel;
    this.#onWindow = onWindow;
  }

  /** The window of the charts: a key of `WINDOWS`. */
  get window() { return this.#window; }

  /** Uses a window of a URL; any other text is the day. */
  set window(name) { this.#window = Object.hasOwn(WINDOWS, name) ? name : "24h"; }

  /** Another target or window is shown. */
  forgetMarks() { this.#marks = { latencies: null, bars: null }; }

  /** A plot is drawn in the size in which it is shown, so that its text keeps its size. */
  get #width() { return Math.max(160, Math.min(PLOT_LIMIT, (this.#panel().clientWidth || innerWidth) - PANEL_MARGIN)); }

  tabs() {
    return h("div", { class: "tabs", role: "group", "aria-label": text("latency") },
      Object.keys(WINDOWS).map((name) => button(text(`window${name}`),
        () => { this.#window = name; this.forgetMarks(); this.#onWindow(); },
        { "data-key": `window-${name}`, "aria-pressed": String(name === this.#window) })));
  }

  /** The plot of the points of /latency, which are not empty, with the outages of the target. */
  latencies(points, outages) {
    const range = WINDOWS[this.#window];
    const canvas = h("canvas", {
      class: "plot", role: "img", "aria-label": `${rangeText(points)}. ${text("inspect")}`, tabindex: "0", "data-key": "plot",
    });
    const readout = h("p", { class: "muted small", role: "status" });
    const width = this.#width;
    const draw = () => {
      const marked = this.#marks.latencies;
      drawPlot(canvas, { points, outages, width, range, marked });
      setText(readout, marked !== null && points[marked] ? pointText(points[marked]) : text("legend"));
    };
    this.#inspect(canvas, "latencies", points.length, (x) => nearestPoint(points, x, width, range), draw);
    draw();
    return [canvas, readout];
  }

  /** The bars of the states; nothing while they are not known. */
  bars(letters) {
    if (!letters) return null;
    const { barLength } = WINDOWS[this.#window];
    const caption = `${text(`window${this.#window}`)}${text("colon")}${barsSummary(letters, barLength)}`;
    const canvas = h("canvas", {
      class: "bars", role: "img", tabindex: "0", "data-key": "bars", "aria-label": `${caption}. ${text("inspect")}`,
    });
    const title = h("p", { class: "muted small", role: "status" });
    const width = this.#width;
    const draw = () => {
      const mark = this.#marks.bars;
      const context = prepareCanvas(canvas, width, BARS_HEIGHT);
      if (mark !== null) {
        context.fillStyle = colours().panel;
        context.fillRect(mark * width / letters.length, 0, width / letters.length, BARS_HEIGHT);
      }
      drawBars(context, letters, { width, slots: letters.length, height: BARS_HEIGHT, palette: colours() });
      setText(title, mark !== null && mark < letters.length ? barText(letters, mark, barLength) : caption);
    };
    this.#inspect(canvas, "bars", letters.length, (x) => Math.floor(x / width * letters.length), draw);
    draw();
    return [canvas, title];
  }

  /** Lets the pointer and the arrow keys select a value of a chart. */
  #inspect(canvas, name, count, slotAt, draw) {
    const mark = (slot) => {
      if (this.isReplaced) return;
      this.#marks[name] = slot === null ? null : Math.max(0, Math.min(count - 1, slot));
      draw();
    };
    canvas.addEventListener("pointermove", (event) => mark(slotAt(event.clientX - canvas.getBoundingClientRect().left)));
    canvas.addEventListener("pointerleave", () => mark(null));
    canvas.addEventListener("blur", () => mark(null));
    canvas.addEventListener("keydown", (event) => {
      const at = this.#marks[name];
      const slots = { ArrowLeft: (at ?? count) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: count - 1 };
      if (!Object.hasOwn(slots, event.key)) return;
      mark(slots[event.key]);
      event.preventDefault();
    });
  }
}
