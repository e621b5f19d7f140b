// The panel of one target: which target it shows, its actions, and when its documents are read.

import { fill, h, setText } from "../common/dom.js";
import { duration, now } from "../common/format.js";
import { headerButton } from "../common/frame.js";
import { atMostEvery } from "../common/pacing.js";
import { dotted, text, units, word } from "../common/words.js";
import { TargetActions } from "./actions.js";
import { Plots } from "./plots.js";
import { diagnosisSection, historySection, interval, labelList, lastCheckSection, outagesSection, uptimeLine } from "./sections.js";
import { badge } from "./states.js";
import { TargetReader } from "./targetreader.js";

/** The shortest time between two readings of a target whose events come by thousands, in ms. */
const LOAD_INTERVAL = 1000;
/** What is known of a target before it was read. */
const UNREAD = { document: null, diagnosis: null, points: null, history: null, outages: null, uptime: null, bars: null, months: null };

export class Detail {
  #id = null;
  #model;
  #reader;
  #onClose;
  #read = UNREAD;
  #actions;
  #isMissing = false;
  #since = h("span");
  #plots;
  /** Whether the whole history is shown. */
  #isOpen = false;
  /** The element that has the keyboard, by its key. */
  #focused = null;
  element = h("section", { class: "panel", "aria-labelledby": "detail-title", tabindex: "-1" });
  /** Reads the target again soon, after one of its events. */
  loadSoon = atMostEvery(LOAD_INTERVAL, () => this.load());

  /** `onDenied` is called with a problem when the reader wants to enter a token, `onWindow` after another window was selected. */
  constructor(model, client, { onClose, onDenied, onWindow }) {
    this.#plots = new Plots(() => this.element, () => { onWindow(); this.render(); this.load(); });
    this.#model = model;
    this.#reader = new TargetReader(client);
    this.#onClose = onClose;
    this.#actions = new TargetActions(client, { onDenied, render: () => this.render(), load: () => this.load() });
  }

  get id() { return this.#id; }
  get window() { return this.#plots.window; }

  /** Shows a target with charts of a window; null closes the panel. An empty window is the present one. */
  show(id, window = "") {
    if (window !== "" && window !== this.#plots.window) {
      this.#plots.window = window;
      if (id === this.#id && id !== null) { this.render(); this.load(); }
    }
    if (id === this.#id) return;
    this.#id = id;
    this.#reader.cancel();
    this.#read = UNREAD;
    this.#actions.forget();
    this.#isMissing = false;
    this.#plots.forgetMarks();
    this.#focused = null;
    if (id === null) { fill(this.element); return; }
    this.element.scrollTop = 0;
    this.render();
    this.element.focus({ preventScroll: true });
    this.load();
  }

  /** Reads everything again; `isQuiet`: by the clock, which must not take away what the reader has selected. */
  async load({ isQuiet = false } = {}) {
    const id = this.#id;
    // The list of targets, when it arrives, starts another reading.
    if (id === null || !this.#model.isLoaded) return;
    this.#isMissing = !this.#model.targets.has(id);
    if (this.#isMissing) {
      this.#read = { ...this.#read, document: null };
      this.render();
      return;
    }
    const read = await this.#reader.read(id, this.#plots.window, this.#model.hasHistory);
    if (read === null) return;
    if (read.problem) {
      // A target that was removed meanwhile is reported by its event.
      if (read.problem.status !== 404) this.#actions.problem = read.problem;
      this.render();
      return;
    }
    if (read.series) this.#model.setSeries(read.series, Date.now());
    this.#read = read;
    if (isQuiet && this.#hasSelection()) return;
    this.render();
  }

  /** Whether the reader is selecting text in the panel, which a new element would end. */
  #hasSelection() {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && this.element.contains(selection.anchorNode);
  }

  render() {
    if (this.#id === null) return;
    const active = document.activeElement;
    if (this.element.contains(active)) this.#focused = active === this.element ? null : active.dataset.key ?? null;
    this.#plots.isReplaced = true;
    this.#fill();
    this.#plots.isReplaced = false;
    // The new elements replace the one that had the keyboard.
    if (this.#focused !== null && document.activeElement !== active) {
      this.element.querySelector(`[data-key="${this.#focused}"]`)?.focus({ preventScroll: true });
    }
    this.tick();
  }

  get #isPaused() { return this.#read.document?.paused ?? this.#model.targets.get(this.#id)?.state === "paused"; }

  /** Updates what depends on the time only. */
  tick() {
    const since = this.#model.targets.get(this.#id)?.since ?? Date.parse(this.#read.document?.since ?? "");
    setText(this.#since, Number.isNaN(since) ? "" : text("since", { duration: duration(now() - since, units()) }));
  }

  // MARK: Elements

  #fill() {
    const target = this.#model.targets.get(this.#id);
    const { document, diagnosis, history, outages } = this.#read;
    const title = h("div", { class: "panel-title" }, h("h2", { id: "detail-title" }, this.#id),
      headerButton(text("close"), "×", this.#onClose, { class: "close", "data-key": "close" }));
    if (!target && !document) {
      fill(this.element, title, this.#isMissing ? h("p", {}, text("noSuchTarget")) : this.#actions.refusal());
      return;
    }
    fill(this.element, title, this.#state(target),
      h("p", { class: "mono wrap" }, target?.target ?? document.target),
      document ? interval(document) : null,
      labelList(target?.labels ?? document.labels ?? {}),
      this.#actions.element(this.#id, this.#isPaused), diagnosis ? diagnosisSection(diagnosis) : null, this.#charts(),
      history ? outagesSection({ outages, history, state: target?.state ?? document.state }) : null,
      document?.lastCheck ? lastCheckSection(document.lastCheck) : null, history ? historySection(history) : null);
    for (const element of this.element.querySelectorAll("details")) element.open = this.#isOpen;
    this.element.querySelector("details")?.addEventListener("toggle", ({ target: details }) => { this.#isOpen = details.open; });
  }

  #state(target) {
    const { document } = this.#read;
    const state = target?.state ?? document.state;
    const isFlapping = target?.isFlapping ?? document.flapping;
    const isPending = target?.isPending ?? document.pending;
    const details = dotted([
      word("reasons", target?.reason ?? document?.reason), isFlapping && word("flags", "flapping"),
      isPending && word("flags", "pending"),
    ]);
    return [
      h("p", { class: "verdict-line" }, badge(state, word("states", state)), details === "" ? null : h("span", {}, details),
        this.#since),
      h("p", { class: "muted" }, word("stateHints", state), isFlapping ? ` ${word("flagHints", "flapping")}` : "",
        isPending ? ` ${word("flagHints", "pending")}` : ""),
    ];
  }

  #charts() {
    const { points, uptime, bars, outages, months } = this.#read;
    return h("section", {}, h("div", { class: "section-head" }, h("h3", {}, text("latencyAndStates")), this.#plots.tabs()),
      points?.length > 0 ? this.#plots.latencies(points, outages ?? [])
        : h("p", { class: "muted" }, text(points || this.#model.hasHistory ? "noData" : "noHistory")),
      this.#plots.bars(bars), uptime ? uptimeLine(uptime, months) : null);
  }
}
