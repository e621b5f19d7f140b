// The charts of a row on a canvas: the latencies of an hour and the states of a day.

import { colours, prepareCanvas } from "../common/dom.js";
import { BAR_STATES, sparkScale, sparkSlots } from "./slots.js";

export const SPARK_SLOTS = 60;
export const BAR_SLOTS = 48;
export const CHART_HEIGHT = 20;
/** Latencies use this part of the height, so that a failed check, which has all of it, is higher than any. */
const LATENCY_PART = 0.8;

/** The widths of both charts in a canvas of a width. */
export function chartWidths(width) {
  const gap = 12;
  const spark = Math.floor((width - gap) * 0.46);
  return { spark, gap, bars: width - gap - spark };
}

/** The slot at a position in a canvas of a width: `{chart: "spark" | "bars", slot}`; null between the charts. */
export function slotAt(x, width) {
  const { spark, gap, bars } = chartWidths(width);
  if (x < spark) return { chart: "spark", slot: Math.max(0, Math.floor(x / spark * SPARK_SLOTS)) };
  if (x < spark + gap) return null;
  return { chart: "bars", slot: Math.min(BAR_SLOTS - 1, Math.floor((x - spark - gap) / bars * BAR_SLOTS)) };
}

/** The middle of a slot in a canvas of a width. */
export function slotMiddle({ chart, slot }, width) {
  const { spark, gap, bars } = chartWidths(width);
  return chart === "spark" ? (slot + 0.5) / SPARK_SLOTS * spark : spark + gap + (slot + 0.5) / BAR_SLOTS * bars;
}

export function drawCharts(canvas, series, width) {
  const context = prepareCanvas(canvas, width, CHART_HEIGHT);
  const palette = colours();
  const { spark, gap, bars } = chartWidths(width);
  drawSpark(context, series.spark || "", spark, palette);
  context.translate(spark + gap, 0);
  drawBars(context, series.bars24 || "", { width: bars, slots: BAR_SLOTS, height: CHART_HEIGHT, palette });
}

function isLatency(slot) { return typeof slot === "number"; }

function drawSpark(context, letters, width, palette) {
  if (letters === "") { hatch(context, width, CHART_HEIGHT, palette); return; }
  const slots = sparkSlots(letters);
  const scale = sparkScale(slots);
  const step = width / SPARK_SLOTS;
  const offset = SPARK_SLOTS - slots.length;
  const heightOf = (value) => Math.max(1.5, Math.min(1, value / scale.top) * CHART_HEIGHT * LATENCY_PART);
  slots.forEach((slot, index) => {
    const x = (offset + index) * step;
    if (slot === "failed") {
      context.fillStyle = palette.down;
      context.fillRect(x, 0, Math.max(1, step - 0.5), CHART_HEIGHT);
    } else if (slot === null) {
      context.fillStyle = palette.line;
      context.fillRect(x, CHART_HEIGHT - 1, step / 2, 1);
    } else {
      context.fillStyle = palette.muted;
      context.globalAlpha = 0.5;
      context.fillRect(x, CHART_HEIGHT - heightOf(slot), Math.max(1, step - 0.5), heightOf(slot));
      context.globalAlpha = 1;
    }
  });
  if (scale === null) return;
  context.fillStyle = palette.text;
  context.globalAlpha = 0.6;
  // As far as there are latencies.
  const [first, last] = [slots.findIndex(isLatency), slots.findLastIndex(isLatency)];
  context.fillRect((offset + first) * step, Math.round(CHART_HEIGHT - heightOf(scale.median)), (last - first + 1) * step, 1);
  context.globalAlpha = 1;
}

/** The parts of a bar by its state, as shares of the height from the top: shape and height differ, not only the colour. */
const SHAPES = {
  up: [[0.55, 1]], down: [[0, 1]], unreachable: [[0, 0.4], [0.6, 1]], unknown: [[0.4, 0.6]], paused: [[0.8, 1]],
};

/** Draws one bar a slot for its most severe state. */
export function drawBars(context, letters, { width, slots, height, palette }) {
  if (letters === "") { hatch(context, width, height, palette); return; }
  const step = width / slots;
  const offset = slots - letters.length;
  const space = step > 4 ? 1 : step > 2 ? 0.75 : 0;
  for (let slot = 0; slot < letters.length; slot += 1) {
    const state = BAR_STATES[letters[slot]];
    const x = (offset + slot) * step;
    context.fillStyle = state ? palette[state] : palette.line;
    if (!state) context.fillRect(x, height - 1, step / 2, 1);
    for (const [top, bottom] of SHAPES[state] ?? []) {
      context.fillRect(x, Math.round(top * height), step - space, Math.round(bottom * height) - Math.round(top * height));
    }
  }
}

/** Marks an area without data. */
function hatch(context, width, height, palette) {
  context.strokeStyle = palette.line;
  context.globalAlpha = 0.4;
  context.beginPath();
  for (let x = 0; x < width; x += 8) {
    context.moveTo(x, height);
    context.lineTo(Math.min(width, x + 4), height - 4);
  }
  context.stroke();
  context.globalAlpha = 1;
}
