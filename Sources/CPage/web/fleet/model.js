// The state of a fleet without the DOM: documents of the replica, changed by its events.

import { makeSearch } from "../common/search.js";

/** The verdicts, worst first. */
export const VERDICTS = ["down", "partial", "unreachable", "unknown", "up", "paused"];
const RANK = Object.fromEntries(VERDICTS.map((verdict, index) => [verdict, index]));
/** The states of cells, worst first. */
export const STATES = ["down", "unreachable", "unknown", "paused", "up"];
/** The prefix of the targets that are agents. */
export const MESH = "mesh.";
/** The changes that the page lists, and the types of their events. */
const TIMELINE_LIMIT = 100;
const TIMELINE_TYPES = new Set(["verdict", "agent", "definition"]);

export class FleetModel {
  overview = null;
  /** The agents, by id, as `/fleet/agents` has them. */
  agents = new Map();
  /** The targets, by id, as `/fleet/targets` has them. */
  targets = new Map();
  /** `{state, reason, since}` by target, then by agent. */
  cells = new Map();
  /** `{time, type, data}`, latest first. */
  timeline = [];

  setAgents(list) { this.agents = new Map(list.map((agent) => [agent.id, agent])); }
  setAgent(agent) { this.agents.set(agent.id, agent); }
  setTargets(list) { this.targets = new Map(list.map((target) => [target.id, target])); }
  setTarget(target) { this.targets.set(target.id, target); }

  /** Replaces all cells, or those of one agent. */
  setCells(list, agent = null) {
    if (agent === null) this.cells = new Map();
    else for (const row of this.cells.values()) row.delete(agent);
    for (const cell of list) this.#setCell(cell.target, cell.agent, cell);
  }

  #setCell(target, agent, { state, reason, since }) {
    let row = this.cells.get(target);
    if (!row) this.cells.set(target, row = new Map());
    if (state === null) row.delete(agent); else row.set(agent, { state, reason, since });
    if (row.size === 0) this.cells.delete(target);
  }

  apply(type, data) {
    if (type === "snapshot") this.overview = data;
    else if (type === "cell") this.#setCell(data.target, data.agent, data);
    else if (type === "verdict") this.#applyVerdict(data);
    else if (type === "definition") this.#applyDefinition(data);
    else if (type === "agent") this.#applyAgent(data);
    if (!TIMELINE_TYPES.has(type)) return;
    this.timeline.unshift({ type, data });
    this.timeline.length = Math.min(this.timeline.length, TIMELINE_LIMIT);
  }

  #applyDefinition({ target: id, definition, time }) {
    if (definition === null) this.targets.delete(id);
    else if (this.targets.has(id)) this.setTarget({ ...this.targets.get(id), ...definition });
    else this.setTarget({ id, ...definition, verdict: "unknown", reason: "starting", since: time, votes: {}, downFrom: [] });
  }

  #applyVerdict({ target: id, verdict, reason, time, votes, downFrom }) {
    const target = this.targets.get(id);
    if (target) Object.assign(target, { verdict, reason, since: time, votes, downFrom });
  }

  #applyAgent({ agent: id, state, time }) {
    const agent = this.agents.get(id);
    if (agent) Object.assign(agent, { state, since: time });
    if (state === "present") return;
    for (const [target, row] of this.cells) {
      if (!row.has(id) || (state === "lost" && row.get(id).state === "paused")) continue;
      this.#setCell(target, id, state === "left" ? { state: null } : { state: "unknown", reason: "agentSilent", since: time });
    }
  }

  get counts() {
    const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0]));
    for (const target of this.targets.values()) counts[target.verdict] += 1;
    return counts;
  }

  /** The targets that a search selects and that have one of the verdicts: the worst first, then the longest, as on a node's page. */
  select(search, verdicts) {
    const matches = makeSearch(search);
    return [...this.targets.values()].filter((target) => (verdicts.size === 0 || verdicts.has(target.verdict)) && matches(target))
      .sort((one, other) => RANK[one.verdict] - RANK[other.verdict] || (one.since < other.since ? -1 : one.since > other.since ? 1 : 0)
        || one.id.localeCompare(other.id, "en"));
  }

  /**
   * Where a target fails: `{reason, agents, of, zones}`, the number of agents that report its verdict, of those assigned, and of
   * their zones; null for a target without a problem. A partial verdict has no reason: then it is that of most votes.
   */
  problem({ id, verdict, reason, votes, downFrom }) {
    if (verdict === "up" || verdict === "paused") return null;
    const state = verdict === "partial" ? "down" : verdict;
    const cells = [...this.cells.get(id) ?? []].filter(([, cell]) => cell.state === state);
    const from = cells.length > 0 ? cells.map(([agent]) => agent) : state === "down" ? downFrom : [];
    const zones = new Set(from.map((agent) => this.agents.get(agent)?.zone ?? ""));
    return { reason: reason ?? mostFrequent(cells.map(([, cell]) => cell.reason)), agents: votes[state] ?? from.length, of: votes.assigned ?? this.agents.size, zones: zones.size };
  }

  /** The agents, those with trouble first: silent ones, those that others do not reach, those with failing checks. */
  get sortedAgents() {
    const trouble = ({ state, reached, cells }) => [state === "present" ? 1 : 0, RANK[reached?.verdict] ?? VERDICTS.length, -(cells.down ?? 0), -(cells.unreachable ?? 0)];
    return [...this.agents.values()].map((agent) => ({ agent, trouble: trouble(agent) })).sort((one, other) => {
      const index = one.trouble.findIndex((value, each) => value !== other.trouble[each]);
      return index >= 0 ? one.trouble[index] - other.trouble[index] : byZone(one.agent, other.agent);
    }).map(({ agent }) => agent);
  }

  /**
   * The matrix of targets or of agents: `{columns: [{label, agents}], rows: [{id, label, cells: [{state, count, …}|null]}]}`.
   *
   * A column is an agent, or all agents of a zone; its cell has the worst of their states.
   */
  matrix(isOfAgents, isByZone, { columnLimit, rowLimit }) {
    const agents = [...this.agents.values()].sort(byZone);
    const all = isByZone
      ? [...new Set(agents.map((agent) => agent.zone))].map((zone) => ({
        label: zone, agents: agents.filter((agent) => agent.zone === zone).map((agent) => agent.id),
      }))
      : agents.map((agent) => ({ label: agent.id, agents: [agent.id] }));
    const columns = all.slice(0, columnLimit);
    const ids = isOfAgents ? agents.map((agent) => MESH + agent.id) : this.select("", new Set()).map((target) => target.id);
    const rows = ids.slice(0, rowLimit).map((id) => {
      const row = this.cells.get(id);
      return {
        id, label: isOfAgents ? id.slice(MESH.length) : id, cells: columns.map((column) => worstCell(column.agents, row)),
      };
    });
    return { columns, rows, hiddenColumns: all.length - columns.length, hiddenRows: ids.length - rows.length };
  }
}

function byZone(one, other) { return one.zone.localeCompare(other.zone, "en") || one.id.localeCompare(other.id, "en"); }

/** The value that occurs most often, without null; null if there is none. */
function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? null;
}

/** The worst of the cells of some agents, with the number of agents in that state; null when none has a cell. */
function worstCell(agents, row) {
  const cells = row ? agents.flatMap((agent) => row.has(agent) ? [{ agent, ...row.get(agent) }] : []) : [];
  const state = STATES.find((each) => cells.some((cell) => cell.state === each));
  if (!state) return null;
  const worst = cells.filter((cell) => cell.state === state);
  return { ...worst[0], count: worst.length, of: cells.length };
}
