// Reads again what events have changed, with a bounded number of requests.

import { isTemporary } from "../common/client.js";

/** The time between two rounds of requests, in ms. */
const ROUND_INTERVAL = 1000;
/** The documents that a round reads one by one; more of them cost as much as the whole list. */
const ROUND_LIMIT = 8;
/** The shortest time between two readings of the whole list, in ms: it may have ten thousand entries. */
const ALL_INTERVAL = 5000;
const CLOCK = { now: () => performance.now(), setTimeout: (body, delay) => setTimeout(body, delay) };

export class Refresher {
  #readOne;
  #readAll;
  #clock;
  /** The ids whose documents are older than an event, the oldest first. */
  #stale = new Set();
  #isAllStale = false;
  #lastAll = -Infinity;
  #lastRound = -Infinity;
  /** Whether a round is under way or will be. */
  #isScheduled = false;
  #isPaused = true;
  /** What was read before a reset is not used. */
  #resets = 0;

  /** The id whose document is being read, or null. */
  #present = null;
  /** The ids that were removed since the present reading began. */
  #removed = new Set();

  /**
   * `readOne(id)` and `readAll()` return functions that put what they have read into the model; that of a list is called
   * with the ids that were removed. `readAll` is null where no list has all documents.
   */
  constructor(readOne, readAll, clock = CLOCK) {
    this.#readOne = readOne;
    this.#readAll = readAll;
    this.#clock = clock;
  }

  /** An event has changed the document of an id. */
  mark(id) {
    this.#stale.add(id);
    this.#schedule();
  }

  /** An event has changed the document and was applied: only a reading under way may not contain it. */
  markIfReading(id) { if (this.#present === id) this.mark(id); }

  /** An event may have changed every document. */
  markAll() {
    this.#isAllStale = true;
    this.#schedule();
  }

  /** An event has removed the document of an id. */
  remove(id) {
    this.#stale.delete(id);
    this.#removed.add(id);
  }

  /** Begins, or continues after a pause. */
  resume() {
    this.#isPaused = false;
    this.#schedule();
  }

  /** Requests nothing while the page is disconnected; what is marked stays so. */
  pause() { this.#isPaused = true; }

  /** All documents were read by other means. */
  reset() {
    this.#resets += 1;
    this.#stale.clear();
    this.#isAllStale = false;
  }

  #schedule() {
    if (this.#isScheduled || this.#isPaused || (this.#stale.size === 0 && !this.#isAllStale)) return;
    this.#isScheduled = true;
    this.#clock.setTimeout(async () => {
      try { await this.#round(); } finally { this.#isScheduled = false; }
      this.#schedule();
    }, Math.max(0, this.#lastRound + ROUND_INTERVAL - this.#clock.now()));
  }

  async #round() {
    const now = this.#clock.now();
    this.#lastRound = now;
    if (this.#readAll !== null && now - this.#lastAll >= ALL_INTERVAL && (this.#isAllStale || this.#stale.size > ROUND_LIMIT)) {
      this.#lastAll = now;
      this.#isAllStale = false;
      // Events from now on mark their ids again: the list may not contain them.
      this.#stale.clear();
      await this.#read(this.#readAll, () => { this.#isAllStale = true; });
      return;
    }
    for (const id of [...this.#stale].slice(0, ROUND_LIMIT)) {
      // One after the other, and not one that was removed or read by other means meanwhile.
      if (!this.#isPaused && this.#stale.delete(id)) await this.#read(() => this.#one(id), () => this.#stale.add(id));
    }
  }

  async #one(id) {
    this.#present = id;
    try {
      const apply = await this.#readOne(id);
      return (removed) => { if (!removed.has(id)) apply(); };
    } finally {
      this.#present = null;
    }
  }

  /** One reading; after a failure that may pass it is marked again, because no event may follow. */
  async #read(body, markAgain) {
    const resets = this.#resets;
    this.#removed.clear();
    let apply;
    try {
      apply = await body();
    } catch (problem) {
      apply = isTemporary(problem) ? markAgain : () => {};
    }
    if (resets === this.#resets) apply(this.#removed);
  }
}
