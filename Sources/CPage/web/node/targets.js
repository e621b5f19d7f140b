// The section of the targets: filter, list, and what is shown in place of the list.

import { copyButton } from "../common/copy.js";
import { button, fill, h } from "../common/dom.js";
import { FilterBar } from "../common/filterbar.js";
import { BASE } from "../common/frame.js";
import { atMostEvery } from "../common/pacing.js";
import { labelsOf } from "../common/search.js";
import { GLYPHS, text, word } from "../common/words.js";
import { arrange } from "./arrange.js";
import { makeFilter } from "./filter.js";
import { TargetList } from "./list.js";
import { STATES } from "./model.js";

/** How long the order of the list stays while targets change, in ms. */
const ORDER_INTERVAL = 250;
const NUMBER = new Intl.NumberFormat("en");
/** The states that a wall shows. */
const PROBLEMS = new Set(["down", "unreachable", "unknown"]);

export class TargetsSection {
  #model;
  #isKiosk;
  #orderSoon = atMostEvery(ORDER_INTERVAL, () => this.order());
  #empty = h("div", { class: "empty", hidden: true });
  #noMatch = h("div", { class: "empty", hidden: true }, h("p", { class: "muted", role: "status" }, text("noMatch")),
    h("p", {}, button(text("showAll"), () => this.#showAll())));
  /** The ids of targets whose dependents are shown. */
  #opened = new Set();
  /** The labels of the targets, until one of them changes. */
  #labels = null;
  filter;
  list;
  element;

  /** `onFilter` is called after the reader has changed the filter, `onOpen` with the id of a target, `onVisible` when other targets are visible. */
  constructor(model, { isKiosk, onFilter, onOpen, onVisible }) {
    this.#model = model;
    this.#isKiosk = isKiosk;
    this.filter = new FilterBar(STATES.map((state) => ({
      state, glyph: GLYPHS[state], label: word("states", state), title: `${word("states", state)}: ${word("stateHints", state)}`,
    })), {
      title: text("state"), placeholder: text("search"), count: "–", labels: () => this.#knownLabels(),
      grouping: { label: text("groupBy"), none: text("noGroups") }, onChange: () => { onFilter(); this.order(); },
    });
    this.list = new TargetList(model, { onOpen, onVisible, onToggle: (line) => this.#toggle(line) });
    this.element = h("section", { class: "targets", "aria-label": text("targets") }, this.filter.element, this.#empty,
      this.#noMatch, this.list.scroller, this.list.printNote, this.list.tip);
  }

  render({ ids, mustRebuild }, isLive) {
    if (mustRebuild) {
      this.#labels = null;
      this.#orderSoon();
    }
    if (ids.size > 0) this.list.update(ids);
    for (const state of STATES) {
      this.filter.setCount(state, this.#model.isLoaded ? NUMBER.format(this.#model.counts[state]) : "–");
    }
    const isEmpty = this.#model.isLoaded && this.#model.targets.size === 0 && isLive;
    if (isEmpty !== !this.#empty.hidden) this.#showEmpty(isEmpty);
  }

  /** Puts the targets that match the filter into their order. */
  order() {
    const { text: words, states, group, folded } = this.filter;
    const targets = this.#model.select(makeFilter(words, states.size > 0 || !this.#isKiosk ? states : PROBLEMS));
    const isEmpty = targets.length === 0;
    this.#noMatch.hidden = !isEmpty || this.#model.targets.size === 0 || this.#isKiosk;
    this.list.scroller.classList.toggle("is-empty", isEmpty);
    this.list.show(arrange(targets, { group, folded, opened: this.#opened, states: STATES }));
    this.filter.setGroups([...this.#knownLabels().keys()]);
  }

  #knownLabels() { return this.#labels ??= labelsOf(this.#model.targets.values()); }

  #toggle(line) {
    if (line.kind === "group") { this.filter.toggleFold(line.value); return; }
    if (!this.#opened.delete(line.id)) this.#opened.add(line.id);
    this.order();
  }

  #showAll() {
    location.hash = "#/";
    this.filter.search.focus();
  }

  #showEmpty(isEmpty) {
    this.#empty.hidden = !isEmpty;
    this.list.scroller.hidden = isEmpty;
    if (isEmpty) fill(this.#empty, firstSteps());
  }
}

function firstSteps() {
  const sample = (title, code) => [h("p", {}, text(title)), h("pre", { tabindex: "0" }, h("code", {}, code)), copyButton(() => code)];
  return [h("h2", {}, text("noTargets")),
    sample("yaml", "targets:\n  - id: db\n    target: tcp://db:5432\n    interval: 10s"),
    sample("curl", `curl -X PUT ${BASE}targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432", "interval": "10s"}'`),
    sample("command", "reachd check tcp://db:5432")].flat();
}
