// The list of events, beside the targets.

import { h, setText } from "../common/dom.js";
import { clock, now, timeZone } from "../common/format.js";
import { makeSearch } from "../common/search.js";
import { text } from "../common/words.js";
import { timelineFilter, withBursts } from "./bursts.js";
import { burstItem, eventItem } from "./event.js";

/** The choices of the type, with the keys of their words. */
const TYPES = { "": "eventsAll", target: "eventsTarget", machine: "eventsMachine", gate: "eventsGate", service: "eventsService" };
/** The lines that are shown. */
const LIMIT = 100;

export class Timeline {
  #model;
  #list = h("ol", { class: "events" });
  #empty = h("p", { class: "muted" });
  #zone = h("p", { class: "muted small" });
  #type = h("select", { "aria-label": text("eventType"), onchange: () => this.#refresh() },
    Object.entries(TYPES).map(([value, key]) => h("option", { value }, text(key))));
  #search = h("input", {
    type: "search", placeholder: text("filterEvents"), "aria-label": text("filterEvents"), autocomplete: "off", spellcheck: "false",
    oninput: () => this.#refresh(),
  });
  /** The keys of the lines that are shown; null if all must be drawn. */
  #rendered = null;
  #day = "";
  element = h("aside", { class: "timeline", "aria-labelledby": "timeline-title", tabindex: "-1" },
    h("div", { class: "timeline-head" }, h("h2", { id: "timeline-title" }, text("timeline")), this.#type), this.#search, this.#empty, this.#list, this.#zone);

  constructor(model) { this.#model = model; }

  #refresh() {
    this.#rendered = null;
    this.render();
  }

  /** Shows the newest events; elements of events that are shown already are kept. */
  render() {
    const model = this.#model;
    const search = this.#search.value.trim();
    const filter = timelineFilter(this.#type.value, search === "" ? null : makeSearch(search), model.targets);
    const lines = withBursts(model.timeline.filter(filter)).slice(0, LIMIT);
    // Times of the day before get their date at midnight.
    const day = clock(now(), true, true);
    if (day !== this.#day) {
      this.#day = day;
      this.#rendered = null;
      setText(this.#zone, text("timesIn", { zone: timeZone() }));
    }
    // A burst is the same as long as its first and its last event are.
    const keyOf = (line) => line.items ? `${line.items.length} ${line.items[0].id} ${line.items.at(-1).id}` : line;
    const keys = lines.map(keyOf);
    if (keys.length === this.#rendered?.length && keys.every((key, index) => key === this.#rendered[index])) return;
    const known = new Map((this.#rendered ?? []).map((key, index) => [key, this.#list.children[index]]));
    this.#rendered = keys;
    this.#list.replaceChildren(...lines.map((line, index) => known.get(keys[index]) || (line.items ? burstItem(line.items) : eventItem(line))));
    setText(this.#empty, lines.length > 0 || !model.isLoaded ? "" : text(model.timeline.length > 0 ? "noMatchingEvents" : "noEvents"));
    this.#empty.hidden = lines.length > 0;
  }

  /** Shows the events of one target, or those that a text selects. */
  filter(words) {
    this.#search.value = words;
    this.#refresh();
  }
}
