// Announcements to screen readers: one text per interval, because each interrupts the reader.

import { h, setText } from "./dom.js";

/** In ms. */
const INTERVAL = 5000;

export class Announcer {
  #compose;
  #last = 0;
  element = h("div", { class: "visually-hidden", "aria-live": "polite" });

  /** `compose` returns what has changed since its last text, in words; an empty text if nothing has. */
  constructor(compose) { this.#compose = compose; }

  tick() {
    if (Date.now() - this.#last < INTERVAL) return;
    const words = this.#compose();
    if (words === "") return;
    setText(this.element, words);
    this.#last = Date.now();
  }
}
