// The connection of a page to a replica: the documents once, and then its event stream.

import { ResumingStream } from "../common/resuming.js";

export class FleetConnection {
  #reader;
  #post;
  #stream;
  /** Events that arrived before the documents; null once they have. */
  #waiting = [];
  /** The number of the last reading of the documents: an older one is not used. */
  #reading = 0;

  /**
   * `post` receives `{kind: "status", status}`, `{kind: "events", events}`, and the documents: first those of targets and agents
   * with the kind `lists`, then, when the cells are there, everything with the kind `all`.
   */
  constructor(client, reader, post) {
    this.#reader = reader;
    this.#post = post;
    this.#stream = new ResumingStream(client, "fleet/events", {
      onStatus: (status) => post({ kind: "status", status }),
      onOpen: (clockOffset, signal) => this.#open(clockOffset, signal),
      onEvents: (events, { signal }) => this.#receive(events, signal),
    });
  }

  start() { this.#stream.start(); }
  stop() { this.#stream.stop(); }
  retry() { this.#stream.retry(); }

  #open(clockOffset, signal) {
    if (this.#waiting !== null) {
      this.#readAll(clockOffset, signal);
      return;
    }
    this.#stream.settle();
    this.#stream.goLive(clockOffset);
  }

  #receive(list, signal) {
    const events = list.flatMap(({ type, data }) => {
      try { return [{ type, data: JSON.parse(data) }]; } catch { return []; }
    });
    // A gap with an agent concerns the cells of that agent only.
    const gap = events.findLastIndex((event) => event.type === "gap" && event.data.agent === undefined);
    if (gap >= 0) {
      this.#waiting = [];
      this.#readAll(this.#stream.status.clockOffset ?? 0, signal);
    }
    if (this.#waiting === null) this.#post({ kind: "events", events });
    else this.#waiting.push(...events.slice(gap + 1));
  }

  async #readAll(clockOffset, signal) {
    this.#reading += 1;
    const reading = this.#reading;
    try {
      const [overview, agents, targets] = await Promise.all([
        this.#reader.overview(signal), this.#reader.agents(signal), this.#reader.targets(signal),
      ]);
      if (reading !== this.#reading) return;
      // A large fleet has many pages of cells, for which its targets do not wait.
      this.#post({ kind: "lists", overview, agents, targets });
      const cells = await this.#reader.cells(null, signal);
      if (reading !== this.#reading) return;
      this.#post({ kind: "all", overview, agents, targets, cells });
      const events = this.#waiting;
      this.#waiting = null;
      this.#stream.settle();
      this.#stream.goLive(clockOffset);
      this.#post({ kind: "events", events });
    } catch (error) {
      if (!signal.aborted && reading === this.#reading) this.#stream.fail(error, signal);
    }
  }
}
