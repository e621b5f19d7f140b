// What has changed since the last announcement to screen readers, in words.

import { text, word } from "../common/words.js";

export class Changes {
  #ids = new Set();
  #hasMachine = false;

  note(events) {
    for (const { type, data } of events) {
      if (type === "target" && !data.removed) this.#ids.add(data.target.id);
      if (type === "status") this.#hasMachine = true;
    }
  }

  /** The changes in words, the machine first; an empty text if there are none. */
  take(model) {
    const machine = this.#hasMachine && model.machine
      ? text("announceMachine", { state: word("machine", model.machine.status) }) : null;
    const words = [machine, this.#targets(model)].filter(Boolean).join(". ");
    this.#ids = new Set();
    this.#hasMachine = false;
    return words;
  }

  #targets(model) {
    if (this.#ids.size === 0) return null;
    const [id] = this.#ids;
    const state = model.targets.get(id)?.state;
    return this.#ids.size === 1 && state ? text("announce", { name: id, state: word("states", state) })
      : text("announceMany", { count: this.#ids.size });
  }
}
