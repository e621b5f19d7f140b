// What the page knows: this machine, its interfaces, the targets, the newest events. No DOM here, so that the worker and
// the tests use it too.

import { targetsOf } from "./columns.js";
import { TargetOrder } from "./order.js";

/** States, the most urgent first. */
export const STATES = ["down", "unreachable", "unknown", "up", "paused"];

/** The events that the timeline keeps. */
export const TIMELINE_LIMIT = 500;

/** An event id, `<epoch>-<number>`, as its parts; null for any other text. */
export function parseID(text) {
  const match = /^([0-9a-f]+)-([0-9]+)$/.exec(text || "");
  return match ? { epoch: match[1], number: Number(match[2]) } : null;
}

/** Events of one millisecond are in the order of their numbers. */
function newestFirst(one, other) {
  return other.time - one.time || (parseID(other.id)?.number ?? 0) - (parseID(one.id)?.number ?? 0);
}

export class Model {
  /** The document of /status; null before the first. */
  machine = null;
  interfaces = new Map();
  /** The number of changes of the machine and its interfaces. */
  machineChanges = 0;
  targets = new Map();
  /** The gates, as /gates has them, by id. */
  gates = new Map();
  /** The newest events, the newest first: `{id, time, type, data, isMissed}`. */
  timeline = [];
  counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  /** Ids of targets that have changed since `takeChanges`. */
  #changed = new Set();
  #mustRebuild = true;
  #order = new TargetOrder(STATES);
  /** Whether the targets are known: before, their number is not 0. */
  isLoaded = false;
  /** Whether the service keeps a history: without one, series and past events are not requested. */
  hasHistory = false;
  /** The id that the targets include. */
  #overviewID = null;

  /** The ids of targets that changed since the last call, and whether the order of the list may have changed. */
  takeChanges() {
    const changes = { ids: this.#changed, mustRebuild: this.#mustRebuild };
    this.#changed = new Set();
    this.#mustRebuild = false;
    return changes;
  }

  /** Replaces the machine and its interfaces by a document of /status. */
  setMachine(status) {
    this.machine = status;
    this.machineChanges += 1;
    this.interfaces = new Map((status.interfaces || []).map((item) => [item.name, item]));
  }

  /** Replaces all targets by the columns of /targets/overview; `id` is the last event that they include. */
  setOverview(columns, id) {
    const old = this.targets;
    this.targets = new Map();
    for (const state of STATES) this.counts[state] = 0;
    for (const target of targetsOf(columns)) {
      // The series are requested for visible targets only; keep them until they are requested again.
      const known = old.get(target.id);
      if (known) target.series = known.series;
      this.targets.set(target.id, target);
      this.counts[target.state] += 1;
    }
    this.hasHistory = columns.history === true;
    this.isLoaded = true;
    this.#overviewID = parseID(id);
    this.#mustRebuild = true;
    this.#order.forget();
  }

  setGates(gates) {
    this.gates = new Map(gates.map((gate) => [gate.id, gate]));
    this.machineChanges += 1;
  }

  /** A copy of everything for another page, which `load` takes. */
  dump() {
    return {
      machine: this.machine, interfaces: this.interfaces, targets: this.targets, gates: this.gates, timeline: this.timeline,
      counts: this.counts, hasHistory: this.hasHistory, overviewID: this.#overviewID,
    };
  }

  load({ overviewID, ...copy }) {
    Object.assign(this, copy);
    this.machineChanges += 1;
    this.isLoaded = true;
    this.#overviewID = overviewID;
    this.#mustRebuild = true;
    this.#order.forget();
  }

  setSeries(columns, now) {
    for (const row of targetsOf(columns)) {
      const target = this.targets.get(row.id);
      if (!target) continue;
      target.latency = row.latency;
      target.series = {
        at: now, uptime24: row.uptime24, uptime90: row.uptime90, spark: row.spark, bars24: row.bars24,
        bars90: row.bars90,
      };
      this.#changed.add(row.id);
    }
  }

  /** Adds the past to the timeline: data of events, or entries of /history, which are known only without details. */
  setTimeline(past) {
    const key = (item) => item.id ?? `${item.type} ${item.time}`;
    const items = new Map(this.timeline.map((item) => [key(item), item]));
    for (const data of past) {
      const item = { id: data.id, time: Date.parse(data.time), type: data.type, data, isMissed: false };
      if (!items.has(key(item))) items.set(key(item), item);
    }
    this.timeline = [...items.values()].sort(newestFirst).slice(0, TIMELINE_LIMIT);
  }

  /** Applies an event; returns false for one that the targets already include. `isMissed`: sent while disconnected. */
  apply(type, data, isMissed = false) {
    if (type === "snapshot") {
      this.setMachine(data);
      return true;
    }
    if (type !== "target") this.machineChanges += 1;
    if (type === "status" || type === "path") {
      this.machine = { ...this.machine, ...data.status };
    } else if (type === "interface") {
      if (data.removed) this.interfaces.delete(data.interface.name);
      else this.interfaces.set(data.interface.name, data.interface);
    } else if (type === "gate") {
      if (data.removed) this.gates.delete(data.gate.id); else this.gates.set(data.gate.id, data.gate);
    } else if (type === "target") {
      if (this.#isIncluded(data.id)) return false;
      this.#applyTarget(data);
    } else {
      return true;
    }
    this.timeline.unshift({ id: data.id, time: Date.parse(data.time), type, data, isMissed });
    if (this.timeline.length > TIMELINE_LIMIT * 2) this.timeline.length = TIMELINE_LIMIT;
    return true;
  }

  #isIncluded(text) {
    const id = parseID(text);
    return this.#overviewID !== null && id !== null && id.epoch === this.#overviewID.epoch
      && id.number <= this.#overviewID.number;
  }

  #applyTarget(data) {
    const id = data.target.id;
    const old = this.targets.get(id);
    if (old) this.counts[old.state] -= 1;
    this.#changed.add(id);
    this.#order.move(id);
    this.#mustRebuild = true;
    if (data.removed) {
      this.targets.delete(id);
      return;
    }
    this.targets.set(id, {
      id, target: data.target.target, state: data.target.state, reason: data.target.reason,
      labels: data.target.labels || {}, since: Date.parse(data.target.since), isPending: data.target.pending,
      isFlapping: data.target.flapping, dependency: data.target.dependency ?? null,
      latency: data.durationSeconds === null || data.durationSeconds === undefined
        ? (old ? old.latency : null) : data.durationSeconds * 1e6,
      series: old ? old.series : null,
    });
    this.counts[data.target.state] += 1;
  }

  /** The targets that match, in the order of the list: the most urgent first, then the longest. */
  select(filter) { return this.#order.sort(this.targets).filter(filter); }
}
