// The documents of a replica. A list is read page by page.

/** The items of a page. */
const TARGETS_PER_PAGE = 1000;
const CELLS_PER_PAGE = 10_000;

export class FleetReader {
  #client;

  constructor(client) { this.#client = client; }

  overview(signal) { return this.#client.json("GET", "fleet", { signal }); }
  async agents(signal) { return (await this.#client.json("GET", "fleet/agents", { signal })).agents; }
  agent(id) { return this.#client.json("GET", `fleet/agents/${encodeURIComponent(id)}`); }
  targets(signal) { return this.#list("fleet/targets?", "targets", TARGETS_PER_PAGE, signal); }
  target(id) { return this.#client.json("GET", `fleet/targets/${encodeURIComponent(id)}`); }

  /** All cells, or those of an agent. */
  cells(agent, signal) {
    return this.#list(`fleet/matrix?${agent === null ? "" : `from=${encodeURIComponent(agent)}&`}`, "cells", CELLS_PER_PAGE, signal);
  }

  /** Checks a target now, from all of its agents; the results. */
  async check(id) { return (await this.#client.json("POST", "fleet/checks", { body: { target: id } })).results; }

  async #list(path, member, limit, signal) {
    const items = [];
    for (let next = ""; next !== null;) {
      const more = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
      const page = await this.#client.json("GET", `${path}limit=${limit}${more}`, { signal });
      items.push(...page[member]);
      next = page.next ?? null;
    }
    return items;
  }
}
