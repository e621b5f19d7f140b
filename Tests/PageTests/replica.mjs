// A replica in the place of a FleetReader: documents that follow from reports, as the service computes them.

const STATES = ["up", "down", "unreachable", "unknown", "paused"];

/** The number of each state. */
function count(states) {
  return Object.fromEntries([...STATES.map((state) => [state, states.filter((each) => each === state).length]), ["assigned", states.length]]);
}

export class Replica {
  #agents;
  /** The reports by target, then by agent. */
  #cells = new Map();
  #verdicts = new Map();
  #time = 0;
  /** Delivers events, in order. */
  onEvent = () => {};
  /** Called before each answer: a test may delay it, or throw a problem. */
  before = async () => {};
  requests = [];

  /** Every agent checks every target, and every other agent. */
  constructor(agents, targets) {
    this.#agents = new Map(agents.map((id) => [id, { id, zone: "", state: "present" }]));
    for (const id of targets) this.#verdicts.set(id, "up");
    for (const target of [...targets, ...agents.map((id) => `mesh.${id}`)]) {
      this.#cells.set(target, new Map(agents.filter((id) => target !== `mesh.${id}`).map((id) => [id, "up"])));
    }
  }

  get targetIDs() { return [...this.#verdicts.keys()]; }
  get agentIDs() { return [...this.#agents.keys()]; }

  // MARK: Changes

  report(agent, target, state) {
    const row = this.#cells.get(target);
    const old = row?.get(agent) ?? "unknown";
    if (!row || target === `mesh.${agent}` || (row.has(agent) && old === state)) return;
    row.set(agent, state);
    this.#send("cell", { agent, target, old, state, reason: null, since: this.#tick() });
    this.#review(target);
  }

  /** Defines a target, which no agent has checked yet. */
  define(id) {
    this.#verdicts.set(id, "up");
    this.#cells.set(id, new Map());
    this.#send("definition", { target: id, definition: { target: "tcp://a:1", labels: {} } });
  }

  remove(id) {
    const row = this.#cells.get(id);
    this.#verdicts.delete(id);
    this.#cells.delete(id);
    this.#send("definition", { target: id, definition: null });
    for (const [agent, old] of row) this.#send("cell", { agent, target: id, old, state: null, reason: null, since: null });
  }

  #review(id) {
    if (!this.#verdicts.has(id)) return;
    const target = this.#target(id);
    const verdict = target.votes.down > 1 ? "down" : target.votes.down === 1 ? "partial" : "up";
    if (verdict === this.#verdicts.get(id)) return;
    const old = this.#verdicts.get(id);
    this.#verdicts.set(id, verdict);
    // The votes of the verdict may be older than those of the document.
    this.#send("verdict", { target: id, old, verdict, reason: null, votes: count([]), downFrom: [] });
  }

  #tick() {
    this.#time += 1;
    return `t${this.#time}`;
  }

  #send(type, data) { this.onEvent(type, { time: this.#tick(), ...data }); }

  // MARK: Documents

  #target(id) {
    const row = [...this.#cells.get(id)];
    return {
      id, target: "tcp://a:1", labels: {}, verdict: this.#verdicts.get(id), reason: null, votes: count(row.map(([, state]) => state)),
      downFrom: row.filter(([, state]) => state === "down").map(([agent]) => agent),
    };
  }

  #agent(id) {
    const row = [...this.#cells.get(`mesh.${id}`).values()];
    return {
      ...this.#agents.get(id), awaitingBase: false,
      cells: count([...this.#cells.values()].flatMap((cells) => cells.has(id) ? [cells.get(id)] : [])),
      reached: { verdict: row.includes("down") ? "down" : "up", votes: count(row), downFrom: [] },
    };
  }

  /** Answers a request: the document is of the moment in which the request arrives, the answer may come later. */
  async #answer(name, make) {
    this.requests.push(name);
    const document = make();
    await this.before(name);
    if (document === undefined) throw { status: 404 };
    return structuredClone(document);
  }

  overview() { return this.#answer("overview", () => ({ replica: "r", replicas: ["r"], engine: { connected: true } })); }
  agents() { return this.#answer("agents", () => this.agentIDs.map((id) => this.#agent(id))); }
  agent(id) { return this.#answer(`agent ${id}`, () => this.#agents.has(id) ? this.#agent(id) : undefined); }
  targets() { return this.#answer("targets", () => this.targetIDs.map((id) => this.#target(id))); }
  target(id) { return this.#answer(`target ${id}`, () => this.#verdicts.has(id) ? this.#target(id) : undefined); }
  cells(agent) {
    return this.#answer(`cells ${agent ?? "all"}`, () => [...this.#cells].flatMap(([target, row]) =>
      [...row].filter(([id]) => agent === null || id === agent)
        .map(([id, state]) => ({ target, agent: id, state, reason: null, since: null }))));
  }
}
