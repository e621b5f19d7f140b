// One target: its state, diagnosis and last check, latency, availability, history, and actions.

import { barText, CHART_HEIGHT, drawBars, drawPlot, nearestPoint, pointText } from "./charts.js";
import { atMostEvery, clock, colours, duration, fill, h, latency, now, prepareCanvas, setText, share } from "./dom.js";
import { listRoute } from "./preferences.js";
import { badge } from "./summary.js";
import { joined, text, units, word } from "./words.js";

/** The widest plot in px, and the margins of the panel. */
const PLOT_LIMIT = 480;
const PANEL_MARGIN = 32;
/** A plot is drawn in the size in which it is shown, so that its text keeps its size. */
const plotWidth = () => Math.min(PLOT_LIMIT, innerWidth - PANEL_MARGIN);
/** The windows of the plot: the step of /latency, the time in ms, and the number of steps. */
const WINDOWS = { "1h": ["1m", 3_600_000, 60], "24h": ["1h", 86_400_000, 24], "90d": ["1d", 90 * 86_400_000, 90] };
const HALF_HOUR = 1_800_000;
const DAY = 86_400_000;
/** The shortest time between two readings of a target whose events come by thousands, in ms. */
const LOAD_INTERVAL = 1000;

export class Detail {
  #id = null;
  #api;
  #onClose;
  #onDenied;
  #model;
  #document = null;
  #window = "1h";
  #points = null;
  #history = null;
  #uptime = null;
  #diagnosis = null;
  #problem = null;
  #isMissing = false;
  #isBusy = false;
  /** The number of the last reading: a response to an older one is ignored. */
  #reading = 0;
  #since = h("span");
  /** The point and the bar that the pointer or the arrow keys have selected. */
  #marks = { plot: null, bars: null };
  #focused = null;
  #isFilling = false;
  element = h("section", { class: "panel", "aria-labelledby": "detail-title", tabindex: "-1" });
  /** Reads the target again soon, after one of its events. */
  loadSoon = atMostEvery(LOAD_INTERVAL, () => this.load());

  /**
   * `api(method, path)` requests a document, and throws `{detail, requestID, status, scope}`; `onDenied` is called with
   * what it has thrown when the reader wants to enter a token.
   */
  constructor(model, api, { onClose, onDenied }) {
    this.#model = model;
    this.#api = api;
    this.#onClose = onClose;
    this.#onDenied = onDenied;
  }

  get id() { return this.#id; }

  /** Shows a target; null closes the panel. */
  show(id) {
    if (id === this.#id) return;
    this.#id = id;
    this.#document = this.#points = this.#history = this.#uptime = this.#diagnosis = this.#problem = null;
    this.#isMissing = this.#isBusy = false;
    this.#marks = { plot: null, bars: null };
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
    if (this.#isMissing) { this.#document = null; this.render(); return; }
    this.#reading += 1;
    const reading = this.#reading;
    const path = `targets/${encodeURIComponent(id)}`;
    const step = WINDOWS[this.#window][0];
    const read = (name) => this.#api("GET", `${path}${name}`).catch((problem) => ({ problem }));
    const document = await read("");
    if (reading !== this.#reading) return;
    if (document.problem) {
      // A target that was removed meanwhile is reported by its event.
      if (document.problem.status !== 404) this.#problem = document.problem;
      this.render();
      return;
    }
    const past = (name) => this.#model.hasHistory ? read(name) : { problem: null };
    const [diagnosis, points, history, uptime, series] = await Promise.all([
      // A paused target has no diagnosis.
      document.paused ? null : read("/explain"),
      past(`/latency?step=${step}&window=${this.#window}`), past("/history?limit=50&order=desc"),
      past(`/uptime?window=${this.#window}`),
      this.#model.hasHistory
        ? this.#api("GET", `targets/overview?series=all&id=${encodeURIComponent(id)}`).catch(() => null) : null,
    ]);
    // A later reading has begun, or another target was chosen.
    if (reading !== this.#reading) return;
    if (series) this.#model.setSeries(series, Date.now());
    this.#document = document;
    this.#diagnosis = diagnosis;
    this.#points = points.steps === undefined ? null : points.steps;
    this.#history = history.history === undefined ? null : history.history;
    this.#uptime = uptime.availability === undefined ? null : uptime;
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
    this.#isFilling = true;
    this.#fill();
    this.#isFilling = false;
    // The new elements replace the one that had the keyboard.
    if (this.#focused !== null && document.activeElement !== active) {
      this.element.querySelector(`[data-key="${this.#focused}"]`)?.focus({ preventScroll: true });
    }
    this.tick();
  }

  /** Updates what depends on the time only. */
  tick() {
    const since = this.#model.targets.get(this.#id)?.since ?? Date.parse(this.#document?.since ?? "");
    setText(this.#since, Number.isNaN(since) ? "" : text("since", { duration: duration(now() - since, units()) }));
  }

  #fill() {
    const target = this.#model.targets.get(this.#id);
    const title = h("div", { class: "panel-title" }, h("h2", { id: "detail-title" }, this.#id),
      h("button", { type: "button", class: "close", "data-key": "close", "aria-label": text("close"), title: text("close"),
        onclick: this.#onClose }, "×"));
    if (!target && !this.#document) {
      fill(this.element, title, this.#isMissing ? h("p", {}, text("noSuchTarget")) : this.#problemText());
      return;
    }
    const state = target?.state ?? this.#document.state;
    const reason = target?.reason ?? this.#document?.reason;
    const isFlapping = target?.isFlapping ?? this.#document.flapping;
    const isPending = target?.isPending ?? this.#document.pending;
    const details = joined([
      word("reasons", reason), isFlapping && word("flags", "flapping"), isPending && word("flags", "pending"),
    ]);
    fill(this.element, title,
      h("p", { class: "verdict-line" }, badge(state, word("states", state)),
        details === "" ? null : h("span", {}, details),
        this.#since),
      h("p", { class: "muted" }, word("stateHints", state), isFlapping ? ` ${word("flagHints", "flapping")}` : "",
        isPending ? ` ${word("flagHints", "pending")}` : ""),
      h("p", { class: "mono wrap" }, target?.target ?? this.#document.target),
      this.#document ? h("p", { class: "muted small" },
        `${this.#document.module} · ${text("interval", { time: time(this.#document.intervalSeconds) })}`) : null,
      this.#labels(target?.labels ?? this.#document.labels ?? {}),
      this.#actions(), this.#steps(), this.#lastCheck(), this.#plot(target), this.#events());
  }

  /** The labels, which select the targets that have them. */
  #labels(labels) {
    const names = Object.keys(labels).sort();
    if (names.length === 0) return null;
    return h("ul", { class: "labels", "aria-label": text("labels") }, names.map((name) => {
      const label = `${name}=${labels[name]}`;
      // The search separates its words at spaces and commas.
      return h("li", {}, /[\s,]/.test(label) ? h("bdi", {}, label)
        : h("a", { href: listRoute(label), "data-key": `label-${names.indexOf(name)}` }, h("bdi", {}, label)));
    }));
  }

  // MARK: Actions

  #actions() {
    const button = (key, label, action, isEnabled = true) => h("button", {
      type: "button", "data-key": key, disabled: !isEnabled, "aria-disabled": this.#isBusy ? "true" : null,
      onclick: () => { if (!this.#isBusy) this.#run(action); },
    }, label);
    const id = encodeURIComponent(this.#id);
    const isPaused = this.#document?.paused ?? this.#model.targets.get(this.#id)?.state === "paused";
    return h("div", { class: "actions" },
      button("check", text("checkNow"), () => this.#api("POST", `targets/${id}/check`), !isPaused),
      isPaused ? button("pause", text("resume"), () => this.#api("POST", `targets/${id}/resume`))
        : button("pause", text("pause"), () => this.#api("POST", `targets/${id}/pause`)),
      this.#problemText());
  }

  #problemText() {
    const problem = this.#problem;
    if (!problem) return null;
    const isDenied = (problem.status === 401 || problem.status === 403) && problem.scope;
    return h("p", { role: "alert", class: "problem wrap" },
      isDenied ? text("tokenNeeded", { scope: problem.scope }) : text("error", { detail: problem.detail }),
      problem.requestID ? ` ${text("requestID", { id: problem.requestID })}` : "", " ",
      isDenied ? h("button", { type: "button", "data-key": "token", onclick: () => this.#onDenied(problem) }, text("token")) : null);
  }

  async #run(action) {
    const id = this.#id;
    this.#isBusy = true;
    this.#problem = null;
    this.render();
    let problem = null;
    try {
      await action();
    } catch (thrown) {
      problem = thrown;
    }
    if (id !== this.#id) return;
    this.#problem = problem;
    this.#isBusy = false;
    this.render();
    await this.load();
  }

  // MARK: The last check

  #steps() {
    if (!this.#diagnosis) return null;
    const { problem } = this.#diagnosis;
    if (problem) {
      return problem.scope ? h("section", {}, h("h3", {}, text("diagnosis")),
        h("p", { class: "muted" }, text("tokenNeeded", { scope: problem.scope }))) : null;
    }
    const marks = { pass: "up", fail: "down", notReached: "unknown" };
    return h("section", {}, h("h3", {}, text("diagnosis")), h("ol", { class: "steps" },
      this.#diagnosis.steps.map((step) => h("li", { class: step.verdict },
        badge(marks[step.verdict], word("steps", step.step)), " ",
        // The service writes English.
        step.verdict === "notReached" ? h("span", { class: "muted" }, text("notReached"))
          : h("span", { class: "wrap", lang: "en" }, step.evidence || ""),
        step.advice ? h("p", { class: "advice wrap", lang: "en" }, step.advice) : null))));
  }

  #lastCheck() {
    const check = this.#document?.lastCheck;
    if (!check) return null;
    const phases = Object.entries(check.phases || {});
    const total = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
    return h("section", {},
      h("h3", {}, text("lastCheck")),
      h("p", {}, badge(check.state, word("states", check.state)), ` ${latency(check.durationSeconds * 1e6)} `,
        h("span", { class: "muted" }, clock(Date.parse(check.checkedAt)),
          check.address ? ` · ${check.address}` : "")),
      check.detail ? h("p", { class: "mono wrap", lang: "en" }, check.detail) : null,
      phases.length === 0 ? null : h("ul", { class: "phases" }, phases.map(([name, seconds]) =>
        h("li", {}, h("span", {}, word("phases", name)),
          h("meter", { min: 0, max: total || 1, value: seconds, "aria-label": word("phases", name) }),
          h("span", { class: "mono" }, latency(seconds * 1e6))))));
  }

  // MARK: The past

  #plot(target) {
    const tabs = h("div", { class: "tabs", role: "group", "aria-label": text("latency") },
      Object.keys(WINDOWS).map((name) => h("button", {
        type: "button", "data-key": `window-${name}`, "aria-pressed": name === this.#window ? "true" : "false",
        onclick: () => { this.#window = name; this.#marks = { plot: null, bars: null }; this.render(); this.load(); },
      }, text(`window${name}`))));
    return h("section", {}, h("h3", {}, text("latency")), tabs, this.#latencies(), this.#bars(target),
      this.#uptime ? h("p", { title: text("uptimeHint") }, this.#uptimeText()) : null);
  }

  #latencies() {
    const points = this.#points ?? [];
    if (points.length === 0) {
      return h("p", { class: "muted" }, text(this.#points || this.#model.hasHistory ? "noData" : "noHistory"));
    }
    const range = WINDOWS[this.#window];
    const canvas = h("canvas", { class: "plot", role: "img", "aria-label": `${this.#plotText()}. ${text("inspect")}`, tabindex: "0", "data-key": "plot" });
    const readout = h("p", { class: "muted small", role: "status" });
    const draw = () => {
      const mark = this.#marks.plot;
      drawPlot(canvas, points, plotWidth(), range, mark);
      setText(readout, mark !== null && points[mark] ? pointText(points[mark]) : text("legend"));
    };
    this.#inspect(canvas, "plot", points.length, (x) => nearestPoint(points, x, plotWidth(), range), draw);
    draw();
    return [canvas, readout];
  }

  #bars(target) {
    const isLong = this.#window === "90d";
    const letters = isLong ? target?.series?.bars90 : target?.series?.bars24;
    if (!letters) return null;
    const canvas = h("canvas", { class: "bars", role: "img", tabindex: "0", "data-key": "bars",
      "aria-label": `${text("barsTitle", { window: text(isLong ? "window90d" : "window24h") })}. ${text("inspect")}` });
    const title = h("p", { class: "muted small", role: "status" });
    const draw = () => {
      const mark = this.#marks.bars;
      const context = prepareCanvas(canvas, plotWidth(), CHART_HEIGHT);
      if (mark !== null) {
        context.fillStyle = colours().panel;
        context.fillRect(mark * plotWidth() / letters.length, 0, plotWidth() / letters.length, CHART_HEIGHT);
      }
      drawBars(context, letters, plotWidth(), letters.length, colours());
      setText(title, mark !== null && mark < letters.length ? barText(letters, mark, isLong ? DAY : HALF_HOUR)
        : text("barsTitle", { window: text(isLong ? "window90d" : "window24h") }));
    };
    this.#inspect(canvas, "bars", letters.length, (x) => Math.floor(x / plotWidth() * letters.length), draw);
    draw();
    return [title, canvas];
  }

  /** Lets the pointer and the arrow keys select a value of a chart. */
  #inspect(canvas, name, count, slotAt, draw) {
    const mark = (slot) => {
      // A chart that is replaced loses the keyboard, not its mark.
      if (this.#isFilling) return;
      this.#marks[name] = slot === null ? null : Math.max(0, Math.min(count - 1, slot));
      draw();
    };
    canvas.addEventListener("pointermove", (event) => mark(slotAt(event.clientX - canvas.getBoundingClientRect().left)));
    canvas.addEventListener("pointerleave", () => mark(null));
    canvas.addEventListener("blur", () => mark(null));
    canvas.addEventListener("keydown", (event) => {
      const at = this.#marks[name];
      if (event.key === "ArrowLeft") mark((at ?? count) - 1);
      else if (event.key === "ArrowRight") mark((at ?? -1) + 1);
      else if (event.key === "Home") mark(0);
      else if (event.key === "End") mark(count - 1);
      else return;
      event.preventDefault();
    });
  }

  #uptimeText() {
    const { availability, outages } = this.#uptime;
    const parts = [availability === null ? text("noData")
      : text("available", { share: share(Math.floor(availability * 10000)) })];
    const count = Array.isArray(outages) ? outages.length : outages;
    if (typeof count === "number") parts.push(text(count === 1 ? "outageOne" : "outages", { count }));
    return joined(parts);
  }

  #plotText() {
    const values = this.#points.map((point) => point.quantiles["0.5"]).filter((value) => typeof value === "number");
    if (values.length === 0) return text("onlyFailures");
    const sorted = [...values].sort((a, b) => a - b);
    const at = (part) => latency(sorted[Math.floor(part * (sorted.length - 1))] * 1e6);
    return joined([`${text("min")} ${at(0)}`, `${text("median")} ${at(0.5)}`, `${text("max")} ${at(1)}`]);
  }

  #events() {
    if (!this.#history) return null;
    return h("section", {}, h("h3", {}, text("history")), h("ol", { class: "events" }, this.#history.map((item) =>
      h("li", { class: "event" }, h("time", { datetime: item.time }, clock(Date.parse(item.time))), " ",
        badge(item.to, item.from === null ? word("history", item.to)
          : text("from", { from: word("history", item.from), to: word("history", item.to) })), " ",
        word("reasons", item.reason)))));
  }
}

/** A number of seconds with its unit; intervals may be shorter than a second. */
function time(seconds) {
  return seconds < 1 ? latency(seconds * 1e6) : duration(seconds * 1000, units());
}
