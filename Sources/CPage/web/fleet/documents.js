// Keeps the documents of the model up to date: applies events, and reads what they do not contain.

import { MESH } from "./model.js";
import { Refresher } from "./refresher.js";

/** How often an agent that has returned is read until its cells are votes again. */
const BASE_ATTEMPTS = 20;

/** What an event changes without containing it: ids of targets, of agents, and of agents with their cells; null for all. */
export function staleAfter(type, data, replicas = []) {
  const none = { targets: [], agents: [], cells: [] };
  if (type === "cell") {
    // The votes of a target also depend on which agents check it.
    return data.target.startsWith(MESH) ? { ...none, agents: [data.agent, data.target.slice(MESH.length)] }
      : { ...none, targets: [data.target], agents: [data.agent] };
  }
  // Votes that have changed since the verdict's basis are not in it.
  if (type === "verdict" || (type === "definition" && data.definition !== null)) return { ...none, targets: [data.target] };
  if (type === "agent") {
    if (data.role === "replica" || replicas.includes(data.agent)) return { ...none, agents: null };
    // An agent that returns publishes its cells without events, and replaces others.
    return { targets: null, agents: null, cells: data.state === "present" ? [data.agent] : [] };
  }
  if (type === "gap" && data.agent !== undefined) return { ...none, cells: [data.agent] };
  return none;
}

export class FleetDocuments {
  #model;
  #targets;
  #agents;
  #cells;
  /** The attempts that are left, by agent. */
  #attempts = new Map();

  /** `onChange` is called after documents were read. */
  constructor(model, reader, onChange, clock) {
    this.#model = model;
    const refresher = (one, all) => {
      const applied = (read) => async (...ids) => {
        const apply = await read(...ids);
        return (removed) => { apply(removed); onChange(); };
      };
      return new Refresher(applied(one), all && applied(all), clock);
    };
    this.#targets = refresher(async (id) => {
      const target = await reader.target(id);
      return () => model.setTarget(target);
    }, async () => {
      const targets = await reader.targets();
      return (removed) => model.setTargets(targets.filter(({ id }) => !removed.has(id)));
    });
    this.#agents = refresher(async (id) => {
      const agent = await reader.agent(id);
      return () => model.setAgent(agent);
    }, async () => {
      const agents = await reader.agents();
      const overview = await reader.overview();
      return () => { model.setAgents(agents); model.overview = overview; };
    });
    this.#cells = refresher(async (id) => {
      const agent = await reader.agent(id);
      const cells = await reader.cells(id);
      return () => this.#setCells(agent, cells);
    }, null);
  }

  get #refreshers() { return [this.#targets, this.#agents, this.#cells]; }

  /** Takes the documents of a connection; without cells, those that are known stay. */
  load({ overview, agents, targets, cells }) {
    for (const refresher of this.#refreshers) refresher.reset();
    this.#model.overview = overview;
    this.#model.setAgents(agents);
    this.#model.setTargets(targets);
    if (cells) this.#model.setCells(cells);
  }

  /** Whether the page follows the replica; nothing is read while it does not. */
  set isLive(isLive) {
    for (const refresher of this.#refreshers) if (isLive) refresher.resume(); else refresher.pause();
  }

  apply(type, data) {
    this.#model.apply(type, data);
    const { overview } = this.#model;
    const { targets, agents, cells } = staleAfter(type, data, overview?.replicas);
    for (const id of cells) this.#attempts.set(id, BASE_ATTEMPTS);
    // Agents end their checks of a target after it was deleted.
    mark(this.#targets, targets?.filter((id) => this.#model.targets.has(id)) ?? null);
    mark(this.#agents, agents);
    mark(this.#cells, cells);
    if (type === "cell") this.#cells.markIfReading(data.agent);
    if (type === "definition" && data.definition === null) this.#targets.remove(data.target);
    // An event shows that the engine is there again.
    if (overview?.engine.connected === false && type !== "snapshot") this.#agents.markAll();
  }

  #setCells(agent, cells) {
    const { id } = agent;
    this.#model.setAgent(agent);
    this.#model.setCells(cells, id);
    const attempts = this.#attempts.get(id) ?? 0;
    this.#attempts.delete(id);
    if (!agent.awaitingBase) {
      mark(this.#targets, cells.map((cell) => cell.target).filter((target) => !target.startsWith(MESH)));
    } else if (attempts > 0) {
      this.#attempts.set(id, attempts - 1);
      this.#cells.mark(id);
    }
  }
}

function mark(refresher, ids) {
  if (ids === null) refresher.markAll();
  else for (const id of ids) refresher.mark(id);
}
