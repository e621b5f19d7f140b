// The section of one target: the votes of its agents, and a check now.

import { copyButton } from "../common/copy.js";
import { button, fill, h } from "../common/dom.js";
import { atMostEvery } from "../common/pacing.js";
import { problemLine } from "../common/problem.js";
import { text } from "../common/words.js";
import { STATES } from "./model.js";
import { timeCell, votesParts } from "./rows.js";
import { columnTitles } from "./table.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, verdictText } from "./words.js";

/** The shortest time between two readings of a target whose events come by thousands, in ms. */
const LOAD_INTERVAL = 1000;

function vantageRow({ agent, zone, state, reason, since }) {
  return h("tr", {}, h("td", { class: `state ${state}` }, verdictText(state)),
    h("th", { scope: "row" }, agent), timeCell(since), h("td", { "data-label": fleetText("zone") }, zone || "–"),
    h("td", { class: "reason" }, reasonWord(reason)));
}

/** The votes, the worst first. */
function byTrouble(vantages) {
  const rank = (state) => STATES.indexOf(state);
  return [...vantages].sort((one, other) => rank(one.state) - rank(other.state) || one.agent.localeCompare(other.agent, "en"));
}

export class TargetSection {
  #reader;
  #onClose;
  #onDenied;
  #id = null;
  /** The results of a check, which stay when the votes change. */
  #results = null;
  element = h("section", { class: "fleet-detail", hidden: true, tabindex: "-1" });
  /** Reads the target again soon, after one of its events. */
  loadSoon = atMostEvery(LOAD_INTERVAL, () => this.#load());

  /** `onDenied` is called with a problem when the reader wants to enter a token. */
  constructor(reader, { onClose, onDenied }) {
    this.#reader = reader;
    this.#onClose = onClose;
    this.#onDenied = onDenied;
  }

  get id() { return this.#id; }

  /** Shows a target; null hides the section. */
  async show(id) {
    this.#id = id;
    this.element.hidden = id === null;
    if (id === null) return;
    this.#results = h("div", { class: "results" });
    await this.#load();
    this.element.focus();
  }

  async #load() {
    const id = this.#id;
    if (id === null) return;
    const close = button(text("close"), this.#onClose, { class: "close", "data-key": "close" });
    try {
      const target = await this.#reader.target(id);
      if (this.#id === id) this.#fill(target, close);
    } catch (problem) {
      if (this.#id === id) fill(this.element, h("h2", {}, id, close), problemLine(problem, this.#onDenied));
    }
  }

  #fill(target, close) {
    const { id, verdict } = target;
    const results = this.#results;
    const key = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    fill(this.element, h("h2", {}, h("span", { class: `state ${verdict}` }, FLEET_GLYPHS[verdict]), ` ${id} `, close),
      h("p", { class: "wrap" }, target.target),
      h("p", {}, `${fleetWord("verdicts", verdict)} ${reasonWord(target.reason)} · `, votesParts(target.votes)),
      h("p", { class: "muted small" }, fleetText("needed", target.needed)),
      h("div", { class: "actions" }, button(fleetText("checkNow"), () => this.#check(id, results), { "data-key": "check" }),
        h("a", { class: "button", href: `fleet/targets/${encodeURIComponent(id)}`, "data-key": "json" }, text("json")),
        copyButton(() => location.href, text("copyLink"), { "data-key": "link" })),
      results,
      h("h3", {}, fleetText("vantages")),
      h("div", { class: "table-frame", tabindex: "0", role: "group", "aria-label": fleetText("vantages") },
        h("table", { class: "stacked" },
          columnTitles([text("state"), fleetText("agent"), text("forTitle"), fleetText("zone"), text("reason")]),
          h("tbody", {}, byTrouble(target.vantages).map(vantageRow)))));
    // The new elements replace the one that had the keyboard.
    if (key) this.element.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
  }

  async #check(id, element) {
    fill(element, h("p", { class: "muted", role: "status" }, fleetText("checking")));
    try {
      const results = await this.#reader.check(id);
      fill(element, h("ul", { role: "status" }, results.map(({ agent, state, reason }) =>
        h("li", {}, h("span", { class: `state ${state}` }, verdictText(state)), ` ${agent} `, h("span", { class: "muted" }, reasonWord(reason))))));
    } catch (problem) {
      fill(element, problemLine(problem, this.#onDenied));
    }
  }
}
