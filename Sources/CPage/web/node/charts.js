// Charts on canvases: the sparkline and the bars of a row, and the plot of a target's latencies.

import { colours, prepareCanvas } from "../common/dom.js";
import { clock, latency, now } from "../common/format.js";
import { text, word } from "../common/words.js";

/** The slots of a sparkline, one per minute, and of the bars, one per half-hour. */
const SPARK_SLOTS = 60;
const BAR_SLOTS = 48;
export const CHART_HEIGHT = 22;
/** The height of a plot; without a latency, that of the other parts. */
const PLOT_HEIGHT = 120;
const SHORT_PLOT_HEIGHT = 52;
/** The height of the strip of failed checks, and that of the times below it. */
const STRIP_HEIGHT = 12;
const AXIS_HEIGHT = 16;

/** The state of each letter in `bars24` and `bars90`. */
const BAR_STATES = { u: "up", d: "down", n: "unreachable", k: "unknown", p: "paused" };

/** The level of a letter in `spark`, 0 to 63, as in base64; null for a failed check or none. */
const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Draws the sparkline of the last hour and the bars of the last day, in the given widths. */
export function drawCharts(canvas, series, { spark, gap, bars }) {
  const context = prepareCanvas(canvas, spark + gap + bars, CHART_HEIGHT);
  const palette = colours();
  drawSpark(context, series.spark || "", spark, palette);
  context.translate(spark + gap, 0);
  drawBars(context, series.bars24 || "", bars, BAR_SLOTS, palette);
}

function drawSpark(context, spark, width, palette) {
  const step = width / SPARK_SLOTS;
  const offset = SPARK_SLOTS - spark.length;
  for (let slot = 0; slot < spark.length; slot += 1) {
    const letter = spark[slot];
    const x = (offset + slot) * step;
    if (letter === "!") {
      // A failed check is a full-height mark, not a missing one.
      context.fillStyle = palette.down;
      context.fillRect(x, 0, step - step / 4, CHART_HEIGHT);
    } else if (letter === ".") {
      baseline(context, x, step, palette);
    } else {
      const level = LEVELS.indexOf(letter);
      if (level < 0) continue;
      const height = 2 + (level / 63) * (CHART_HEIGHT - 2);
      context.fillStyle = palette.muted;
      context.fillRect(x, CHART_HEIGHT - height, step - step / 4, height);
    }
  }
  if (spark === "") hatch(context, width, palette);
}

/** Draws one bar a slot in the colour of its worst state; a failed slot is higher, so that colour is not the only sign. */
export function drawBars(context, bars, width, slots, palette) {
  const step = width / slots;
  const offset = slots - bars.length;
  for (let slot = 0; slot < bars.length; slot += 1) {
    const state = BAR_STATES[bars[slot]];
    const x = (offset + slot) * step;
    if (!state) {
      baseline(context, x, step, palette);
      continue;
    }
    const height = state === "up" ? CHART_HEIGHT * 0.55 : state === "paused" || state === "unknown" ? 6 : CHART_HEIGHT;
    context.fillStyle = palette[state];
    context.fillRect(x, CHART_HEIGHT - height, step - Math.min(1, step / 4), height);
  }
  if (bars === "") hatch(context, width, palette);
}

/** Marks a slot without data. */
function baseline(context, x, step, palette) {
  context.fillStyle = palette.line;
  context.fillRect(x, CHART_HEIGHT - 3, step / 2, 1);
}

/** Marks an area without data. */
function hatch(context, width, palette) {
  context.strokeStyle = palette.line;
  context.globalAlpha = 0.5;
  context.beginPath();
  for (let x = 0; x < width; x += 8) {
    context.moveTo(x, CHART_HEIGHT);
    context.lineTo(Math.min(width, x + 6), CHART_HEIGHT - 6);
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** The time of a slot and its state in words; `step` is the length of a slot in ms. */
export function barText(bars, slot, step) {
  // Slots begin at multiples of their length in UTC, and the last one contains the present.
  const start = Math.floor(now() / step) * step - (bars.length - 1 - slot) * step;
  return `${clock(start, true)} – ${clock(Math.min(start + step, now()), true)} · ${word("states", BAR_STATES[bars[slot]]) || text("noData")}`;
}

/** A point of /latency in words. */
export function pointText(point) {
  const median = point.quantiles["0.5"];
  const range = typeof point.maxSeconds !== "number" ? null
    : `${text("median")} ${latency((median ?? point.maxSeconds) * 1e6)} (${latency(point.minSeconds * 1e6)} – ${latency(point.maxSeconds * 1e6)})`;
  return [clock(Date.parse(point.start), true), text("pointText", { checks: point.checks, failed: point.failed ?? 0 }), range]
    .filter(Boolean).join(" · ");
}

/** The number of the point whose middle is the nearest to a position in a plot of a width. */
export function nearestPoint(points, x, width, [, span, slots]) {
  let best = 0;
  const distance = (point) => Math.abs(position(point, width, span) + width / slots / 2 - x);
  for (let index = 1; index < points.length; index += 1) if (distance(points[index]) < distance(points[best])) best = index;
  return best;
}

function position(point, width, span) { return width * (1 - (now() - Date.parse(point.start)) / span); }

/** Draws the median with the band from minimum to maximum, a strip of failed checks, and the times; marks one point. */
export function drawPlot(canvas, points, width, [, span, slots], marked = null) {
  const values = points.filter((point) => typeof point.maxSeconds === "number");
  const whole = values.length > 0 ? PLOT_HEIGHT : SHORT_PLOT_HEIGHT;
  canvas.classList.toggle("short", values.length === 0);
  const context = prepareCanvas(canvas, width, whole);
  const palette = colours();
  const bottom = whole - AXIS_HEIGHT;
  const height = bottom - STRIP_HEIGHT - 4;
  const step = Math.max(2, width / slots - 1);
  const top = Math.max(...values.map((point) => point.maxSeconds), 1e-6);
  const x = (point) => Math.max(0, position(point, width, span));
  const y = (seconds) => height * (1 - seconds / top);
  if (marked !== null && points[marked]) {
    context.fillStyle = palette.panel;
    context.fillRect(x(points[marked]), 0, step, bottom);
  }
  context.fillStyle = palette.muted;
  context.globalAlpha = 0.35;
  for (const point of values) {
    const [low, high] = [y(point.minSeconds), y(point.maxSeconds)];
    context.fillRect(x(point), high, step, Math.max(1, low - high));
  }
  context.globalAlpha = 1;
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  context.beginPath();
  let last = null;
  for (const point of values) {
    const at = [x(point), y(point.quantiles["0.5"] ?? point.maxSeconds)];
    // A break in the data is a break in the line.
    if (last && at[0] - last < 2.5 * width / slots) context.lineTo(...at); else context.moveTo(...at);
    context.lineTo(at[0] + step, at[1]);
    last = at[0];
  }
  context.stroke();
  context.fillStyle = palette.down;
  for (const point of points) {
    if (!point.failed) continue;
    const part = Math.max(0.15, point.failed / Math.max(1, point.checks));
    context.fillRect(x(point), bottom - STRIP_HEIGHT * part, step, STRIP_HEIGHT * part);
  }
  context.fillStyle = palette.line;
  context.fillRect(0, height + 1, width, 1);
  context.fillRect(0, bottom, width, 1);
  context.fillStyle = palette.muted;
  context.font = "11px system-ui, sans-serif";
  context.fillText(values.length > 0 ? latency(top * 1e6) : text("onlyFailures"), 2, 11);
  const label = (share, align) => {
    context.textAlign = align;
    const time = now() - span * (1 - share);
    context.fillText(share === 1 ? text("present") : clock(time, true, span > 86_400_000), width * share, whole - 3);
  };
  label(0, "left");
  label(0.5, "center");
  label(1, "right");
  context.textAlign = "left";
}
