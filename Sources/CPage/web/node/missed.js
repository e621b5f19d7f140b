// The note that changes happened while the page was disconnected.

import { button, h, setText } from "../common/dom.js";
import { text } from "../common/words.js";

export class MissedNote {
  #count = 0;
  #hadGap = false;
  #text = h("span", { role: "status" });
  element = h("p", { class: "missed-note", hidden: true }, this.#text, " ",
    button(text("dismiss"), () => { this.forget(); this.render(true); }));

  /** Counts the events that happened while the page was disconnected. */
  note(events) {
    this.#count += events.filter((event) => event.isMissed).length;
    if (events.some((event) => event.type === "gap")) this.#hadGap = true;
  }

  forget() {
    this.#count = 0;
    this.#hadGap = false;
  }

  render(isLive) {
    const note = this.#hadGap ? text("gap")
      : this.#count > 0 ? text(this.#count === 1 ? "missedOne" : "missed", { count: this.#count }) : "";
    setText(this.#text, note);
    this.element.hidden = note === "" || !isLive;
  }
}
