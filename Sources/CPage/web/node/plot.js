// The plot of a target's latencies on a canvas.

import { colours, prepareCanvas } from "../common/dom.js";
import { clock, latency, now } from "../common/format.js";
import { text } from "../common/words.js";

const HEIGHT = 128;
/** Without a latency, there are only the failed checks and the times. */
const SHORT_HEIGHT = 48;
/** The height of the strip of failed checks, and that of the times below it. */
const STRIP_HEIGHT = 12;
const AXIS_HEIGHT = 16;
const DAY = 86_400_000;

/** A point of /latency in words. */
export function pointText(point) {
  const median = point.quantiles["0.5"];
  const range = typeof point.maxSeconds !== "number" ? null
    : `${text("median")} ${latency((median ?? point.maxSeconds) * 1e6)} (${latency(point.minSeconds * 1e6)} – ${latency(point.maxSeconds * 1e6)})`;
  return [clock(Date.parse(point.start), true), text("pointText", { checks: point.checks, failed: point.failed ?? 0 }), range]
    .filter(Boolean).join(" · ");
}

/** The number of the point whose middle is the nearest to a position in a plot of a width. */
export function nearestPoint(points, x, width, { span, slots }) {
  let best = 0;
  const distance = (point) => Math.abs(position(point, width, span) + width / slots / 2 - x);
  for (let index = 1; index < points.length; index += 1) if (distance(points[index]) < distance(points[best])) best = index;
  return best;
}

function position(point, width, span) { return width * (1 - (now() - Date.parse(point.start)) / span); }

/** The largest value of the scale: the 99th percentile of the medians' upper values, so that one slow check does not flatten the rest. */
function topOf(values) {
  const sorted = values.map((point) => point.quantiles["0.99"] ?? point.maxSeconds).sort((one, other) => one - other);
  return Math.max(sorted[Math.floor(0.99 * (sorted.length - 1))] ?? 0, 1e-6);
}

/** Draws the median with the band from minimum to maximum, outages, a strip of failed checks, and both axes; marks one point. */
export function drawPlot(canvas, { points, outages, width, range, marked }) {
  const { span, slots } = range;
  const values = points.filter((point) => typeof point.maxSeconds === "number");
  const whole = values.length > 0 ? HEIGHT : SHORT_HEIGHT;
  canvas.classList.toggle("short", values.length === 0);
  const context = prepareCanvas(canvas, width, whole);
  const palette = colours();
  const bottom = whole - AXIS_HEIGHT;
  const area = {
    context, palette, width, span, bottom, height: bottom - STRIP_HEIGHT - 4, step: Math.max(2, width / slots - 1), slots,
    x: (point) => Math.max(0, position(point, width, span)),
  };
  if (marked !== null && points[marked]) {
    context.fillStyle = palette.panel;
    context.fillRect(area.x(points[marked]), 0, area.step, bottom);
  }
  drawOutages(area, outages);
  if (values.length > 0) drawLatencies(area, values);
  drawFailures(area, points);
  drawTimes(area, whole, values.length === 0);
}

function drawOutages({ context, palette, width, span, bottom }, outages) {
  context.fillStyle = palette.down;
  for (const { start, end } of outages) {
    const left = Math.max(0, width * (1 - (now() - start) / span));
    const right = width * (1 - (now() - (end ?? now())) / span);
    if (right < 0) continue;
    context.globalAlpha = 0.12;
    context.fillRect(left, 0, Math.max(1, right - left), bottom);
    context.globalAlpha = 1;
    context.fillRect(left, 0, Math.max(1, right - left), 2);
  }
}

function drawLatencies({ context, palette, width, height, step, slots, x }, values) {
  const top = topOf(values);
  const y = (seconds) => Math.max(0, height * (1 - seconds / top));
  context.fillStyle = palette.line;
  context.globalAlpha = 0.4;
  for (const part of [0, 0.5]) context.fillRect(0, Math.round(height * part), width, 1);
  context.fillStyle = palette.muted;
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
    if (last !== null && at[0] - last < 2.5 * width / slots) context.lineTo(...at); else context.moveTo(...at);
    context.lineTo(at[0] + step, at[1]);
    last = at[0];
  }
  context.stroke();
  label(context, palette, latency(top * 1e6), 2, 12);
  label(context, palette, latency(top * 5e5), 2, height / 2 - 3);
}

function drawFailures({ context, palette, width, height, bottom, step, x }, points) {
  context.fillStyle = palette.down;
  for (const point of points) {
    if (!point.failed) continue;
    const part = Math.max(0.25, point.failed / Math.max(1, point.checks));
    context.fillRect(x(point), bottom - STRIP_HEIGHT * part, step, STRIP_HEIGHT * part);
  }
  context.fillStyle = palette.line;
  context.fillRect(0, height + 1, width, 1);
  context.fillRect(0, bottom, width, 1);
}

function drawTimes({ context, palette, width, span }, whole, isEmpty) {
  if (isEmpty) label(context, palette, text("onlyFailures"), 2, 12);
  for (const [part, align] of [[0, "left"], [0.5, "center"], [1, "right"]]) {
    const time = now() - span * (1 - part);
    // Within a day the time alone, else the month and the day.
    const short = span > DAY ? clock(time, true, true).slice("2026-".length) : clock(time, true).split(" ").at(-1);
    label(context, palette, part === 1 ? text("present") : short, width * part, whole - 3, align);
  }
}

function label(context, palette, words, x, y, align = "left") {
  context.font = '12px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
  context.textAlign = align;
  if (align === "left") {
    // Readable in front of the data.
    context.fillStyle = palette.background;
    context.globalAlpha = 0.8;
    context.fillRect(x - 2, y - 12, context.measureText(words).width + 4, 15);
    context.globalAlpha = 1;
  }
  context.fillStyle = palette.text;
  context.fillText(words, x, y);
  context.textAlign = "left";
}
