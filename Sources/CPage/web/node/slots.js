// What the charts of a row show, as values: the latencies of an hour and the states of a day.

import { clock, duration, latency, now } from "../common/format.js";
import { joined, text, units, word } from "../common/words.js";

/** The state of each letter of bars. */
export const BAR_STATES = { u: "up", d: "down", n: "unreachable", k: "unknown", p: "paused" };
export const MINUTE = 60_000;
export const HALF_HOUR = 1_800_000;

/** The level of a letter in `spark`, as in base64: 64 levels from 0.1 ms to 60 s. */
const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LOWEST = 100;
const RANGE = 600_000;

/** The slots of a sparkline: `failed`, a latency in µs, or null without a check. */
export function sparkSlots(spark) {
  return [...spark].map((letter) => {
    if (letter === "!") return "failed";
    const level = LEVELS.indexOf(letter);
    return level < 0 ? null : LOWEST * RANGE ** (level / 63);
  });
}

/** The largest top of a scale, as a multiple of its median: single slow checks must not flatten the others. */
const HIGHEST = 4;

/** The scale of a sparkline, its own: the 99th percentile as its top, and the median; null without a latency. */
export function sparkScale(slots) {
  const values = slots.filter((slot) => typeof slot === "number").sort((one, other) => one - other);
  if (values.length === 0) return null;
  const at = (part) => values[Math.min(values.length - 1, Math.floor(part * values.length))];
  return { top: Math.min(at(0.99), HIGHEST * at(0.5)), median: at(0.5) };
}

/** The time of a slot; slots begin at multiples of their length in UTC, and the last one contains the present. */
function range(count, slot, step) {
  const start = Math.floor(now() / step) * step - (count - 1 - slot) * step;
  const [from, to] = [clock(start, true), clock(Math.min(start + step, now()), true)];
  // The date once, if it is the same.
  const [date] = from.split(" ");
  return `${from} – ${from.includes(" ") && to.startsWith(`${date} `) ? to.slice(date.length + 1) : to}`;
}

/** The time and the state of a bar. */
export function barText(bars, slot, step) {
  return `${range(bars.length, slot, step)} · ${word("states", BAR_STATES[bars[slot]]) || text("noData")}`;
}

/** The time and the latency of a slot of a sparkline. */
export function sparkText(spark, slot) {
  const slots = sparkSlots(spark);
  const value = slots[slot];
  const scale = sparkScale(slots);
  return [range(slots.length, slot, MINUTE),
    value === "failed" ? text("checkFailed") : value === null ? text("noData") : latency(value),
    scale && typeof value === "number" ? `${text("median")} ${latency(scale.median)}` : ""].filter(Boolean).join(" · ");
}

/** The states of bars in words, with the time in each: `up 23 h 30 min, down 30 min`. */
export function barsSummary(bars, step) {
  const counts = new Map();
  for (const letter of bars) if (letter in BAR_STATES) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  if (counts.size === 0) return text("noData");
  return joined([...counts].sort((one, other) => other[1] - one[1])
    .map(([letter, count]) => `${word("states", BAR_STATES[letter])} ${duration(count * step, units())}`));
}
