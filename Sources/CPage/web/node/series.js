// The series of the visible targets: what changes without an event is read again by the clock.

import { atMostEvery } from "../common/pacing.js";

/** The shortest time between two requests while the visible targets change, in ms. */
const DELAY = 500;
/** The targets in one request. */
const LIMIT = 64;

export class SeriesReader {
  #model;
  #client;
  #visibleIDs;
  #isActive;
  #onRead;
  #isReading = false;
  #readSoon = atMostEvery(DELAY, () => this.read());

  /** `visibleIDs()` are the targets to read while `isActive()`; `onRead` is called after their series have changed. */
  constructor(model, client, { visibleIDs, isActive, onRead }) {
    this.#model = model;
    this.#client = client;
    this.#visibleIDs = visibleIDs;
    this.#isActive = isActive;
    this.#onRead = onRead;
  }

  readMissing() {
    if (this.#visibleIDs().some((id) => !this.#model.targets.get(id)?.series)) this.#readSoon();
  }

  async read() {
    const visible = this.#visibleIDs();
    if (visible.length === 0 || !this.#model.hasHistory || !this.#isActive() || this.#isReading) return;
    const query = visible.slice(0, LIMIT).map((id) => `id=${encodeURIComponent(id)}`).join("&");
    this.#isReading = true;
    try {
      this.#model.setSeries(await this.#client.json("GET", `targets/overview?series=all&${query}`), Date.now());
      this.#onRead();
    } catch { /* The next interval tries again; the connection reports its own failures. */ }
    this.#isReading = false;
    // The list was scrolled meanwhile.
    if (this.#visibleIDs() !== visible) this.readMissing();
  }
}
