// Outages of a target, from its documents.

/** How long before an outage a change of the machine may explain it, in ms. */
const BEFORE = 60_000;
/** The letters of states in bars, the most severe first. */
const LETTERS = [["down", "d"], ["unreachable", "n"], ["unknown", "k"], ["paused", "p"], ["up", "u"]];
const ENDS = new Set(["up", "paused", "removed"]);

/**
 * The outages in a history that is newest first: `{start, end, reason, changes}`, the newest first. An outage begins with
 * `down` and ends with `up`, a pause or the removal; `end` is null while it lasts. `machine` is the history of the machine;
 * `changes` are its entries in the minute before.
 */
export function outagesOf(history, machine = []) {
  const outages = [];
  let open = null;
  for (const { to, time, reason } of [...history].reverse()) {
    if (to === "down" && open === null) outages.unshift(open = { start: Date.parse(time), end: null, reason, changes: [] });
    if (ENDS.has(to) && open !== null) {
      open.end = Date.parse(time);
      open = null;
    }
  }
  for (const outage of outages) {
    outage.changes = machine.filter(({ time }) => Date.parse(time) <= outage.start && Date.parse(time) > outage.start - BEFORE);
  }
  return outages;
}

/** When the target was last up: now, a time in ms, or null if the history does not have it. */
export function lastUp(history, state, now) {
  if (state === "up") return now;
  const entry = history.find(({ from }) => from === "up");
  return entry ? Date.parse(entry.time) : null;
}

/** The outages in a window, those that began before it too: `outages` of an uptime are those that began in it. */
export function outageCount({ outages, endedOutages = 0, seconds }) {
  return Math.max(outages, endedOutages, seconds?.down > 0 ? 1 : 0);
}

/** The steps of an uptime as letters of bars: the most severe state of each, `.` for one that was not monitored. */
export function barsOf(steps) {
  return steps.map(({ seconds }) => LETTERS.find(([state]) => seconds[state] > 0)?.[1] ?? ".").join("");
}
