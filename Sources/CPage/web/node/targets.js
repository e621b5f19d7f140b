// The section of the targets: filter, list, and what is shown in place of the list.

import { button, fill, h, setText } from "../common/dom.js";
import { FilterBar } from "../common/filterbar.js";
import { BASE } from "../common/frame.js";
import { atMostEvery } from "../common/pacing.js";
import { targetRoute } from "../common/route.js";
import { GLYPHS, text, word } from "../common/words.js";
import { makeFilter } from "./filter.js";
import { TargetList } from "./list.js";
import { STATES } from "./model.js";

/** How long the order of the list stays while targets change, in ms. */
const ORDER_INTERVAL = 250;
const NUMBER = new Intl.NumberFormat("en");

export class TargetsSection {
  #model;
  #orderSoon = atMostEvery(ORDER_INTERVAL, () => this.order());
  #empty = h("div", { class: "empty", hidden: true });
  #noMatch = h("div", { class: "empty", hidden: true }, h("p", { class: "muted", role: "status" }, text("noMatch")),
    h("p", {}, button(text("showAll"), () => this.#showAll())));
  filter;
  list;
  element;

  /** `keepsURL` as for `FilterBar`; `onVisible` is called when other targets are visible. */
  constructor(model, { keepsURL, onVisible }) {
    this.#model = model;
    this.filter = new FilterBar(STATES.map((state) => ({
      state, glyph: GLYPHS[state], label: word("states", state), title: `${word("states", state)}: ${word("stateHints", state)}`,
    })), { title: text("state"), placeholder: text("search"), count: "–", keepsURL, onChange: () => this.order() });
    this.list = new TargetList(model, { onOpen: (id) => { location.hash = targetRoute(id); }, onVisible });
    this.element = h("section", { class: "targets", "aria-label": text("targets") }, this.filter.element, this.#empty,
      this.list.header, this.#noMatch, this.list.scroller);
  }

  render({ ids, mustRebuild }, isLive) {
    if (mustRebuild) this.#orderSoon();
    if (ids.size > 0) this.list.update(ids);
    for (const state of STATES) {
      this.filter.setCount(state, this.#model.isLoaded ? NUMBER.format(this.#model.counts[state]) : "–");
    }
    const isEmpty = this.#model.isLoaded && this.#model.targets.size === 0 && isLive;
    if (isEmpty !== !this.#empty.hidden) this.#showEmpty(isEmpty);
  }

  /** Puts the targets that match the filter into their order. */
  order() {
    this.list.show(this.#model.select(makeFilter(this.filter.text, this.filter.states)));
    const isEmpty = this.list.ids.length === 0;
    this.#noMatch.hidden = !isEmpty || this.#model.targets.size === 0;
    this.list.scroller.classList.toggle("is-empty", isEmpty);
  }

  #showAll() {
    location.hash = "#/";
    this.filter.search.focus();
  }

  #showEmpty(isEmpty) {
    this.#empty.hidden = !isEmpty;
    this.list.scroller.hidden = this.list.header.hidden = isEmpty;
    if (isEmpty) fill(this.#empty, firstSteps());
  }
}

function firstSteps() {
  // Browsers have no clipboard on plain HTTP, except for this host.
  const copy = (code) => !navigator.clipboard ? null : button(text("copy"), async ({ currentTarget }) => {
    try {
      await navigator.clipboard.writeText(code);
      setText(currentTarget, text("copied"));
    } catch { /* The browser has refused it; the text can be selected. */ }
  });
  const sample = (title, code) => [h("p", {}, text(title)), h("pre", { tabindex: "0" }, h("code", {}, code)), copy(code)];
  return [h("h2", {}, text("noTargets")),
    sample("yaml", "targets:\n  - id: db\n    target: tcp://db:5432\n    interval: 10s"),
    sample("curl", `curl -X PUT ${BASE}targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432", "interval": "10s"}'`),
    sample("command", "reachd check tcp://db:5432")].flat();
}
