// A clock that stands still until a test advances it: no test waits.

/** Lets everything continue that waits for promises. */
export async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
}

export class Clock {
  #now = 0;
  #timers = new Map();
  #next = 1;

  now = () => this.#now;
  setTimeout = (body, delay = 0) => this.#add(body, delay, null);
  setInterval = (body, delay) => this.#add(body, delay, delay);
  clear = (id) => { this.#timers.delete(id); };

  #add(body, delay, interval) {
    const id = this.#next;
    this.#next += 1;
    this.#timers.set(id, { body, at: this.#now + delay, interval });
    return id;
  }

  /** The number of timers that are set. */
  get size() { return this.#timers.size; }

  /** Advances the time, and calls what is due in order. */
  async advance(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort((one, other) => one[1].at - other[1].at)[0];
      if (!due) break;
      const [id, timer] = due;
      this.#now = Math.max(this.#now, timer.at);
      if (timer.interval === null) this.#timers.delete(id); else timer.at += timer.interval;
      timer.body();
    }
    this.#now = end;
    await settle();
  }

  /** Replaces the clock and the timers of the process until the test ends. */
  install(test) {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
    const date = Date.now;
    Object.assign(globalThis, {
      setTimeout: this.setTimeout, setInterval: this.setInterval, clearTimeout: this.clear, clearInterval: this.clear,
    });
    Date.now = this.now;
    test.after(() => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Date.now = date;
    });
    return this;
  }
}
