// The list of events, beside the targets.

import { h, setText } from "../common/dom.js";
import { clock, now } from "../common/format.js";
import { text } from "../common/words.js";
import { eventItem } from "./event.js";

export class Timeline {
  #list = h("ol", { class: "events" });
  #empty = h("p", { class: "muted" });
  #rendered = [];
  #day = "";
  element = h("aside", { class: "timeline", "aria-labelledby": "timeline-title", tabindex: "-1" },
    h("h2", { id: "timeline-title" }, text("timeline")), this.#empty, this.#list);

  /** Shows the newest events; elements of events that are shown already are kept. */
  render(model, limit = 100) {
    const items = model.timeline.slice(0, limit);
    // Times of the day before get their date at midnight.
    const day = clock(now(), true, true);
    if (day !== this.#day) { this.#day = day; this.#rendered = []; }
    if (items.length === this.#rendered.length && items.every((item, index) => item === this.#rendered[index])) return;
    const known = new Map(this.#rendered.map((item, index) => [item, this.#list.children[index]]));
    this.#rendered = items;
    this.#list.replaceChildren(...items.map((item) => known.get(item) || eventItem(item)));
    setText(this.#empty, items.length === 0 && model.isLoaded ? text("noEvents") : "");
    this.#empty.hidden = items.length > 0;
  }
}
