// One target: its state, the phases of the last check, latency, history, diagnosis, and actions.

import { clock, colours, duration, fill, h, latency, prepareCanvas, share } from "./dom.js";
import { badge } from "./summary.js";
import { drawBars } from "./list.js";
import { text, units, word } from "./words.js";

/** The widest plot in px, and the margins of the panel. */
const PLOT_LIMIT = 480;
const PANEL_MARGIN = 32;
/** A plot is drawn in the size in which it is shown, so that its text keeps its size. */
const plotWidth = () => Math.min(PLOT_LIMIT, innerWidth - PANEL_MARGIN);
const PLOT_HEIGHT = 120;
/** The windows of the plot: the step of /latency, and the time in ms. */
const WINDOWS = { "1h": ["1m", 3_600_000], "24h": ["1h", 86_400_000], "90d": ["1d", 90 * 86_400_000] };

export class Detail {
  #id = null;
  #api;
  #model;
  #document = null;
  #window = "1h";
  #points = null;
  #history = null;
  #uptime = null;
  #diagnosis = null;
  #message = null;
  #isBusy = false;
  element = h("section", { class: "panel", "aria-labelledby": "detail-title", tabindex: "-1" });

  /** `api(method, path)` requests a document, and throws `{detail, requestID}`. */
  constructor(model, api) {
    this.#model = model;
    this.#api = api;
  }

  get id() { return this.#id; }

  /** Shows a target; null closes the panel. */
  async show(id) {
    if (id === this.#id) return;
    this.#id = id;
    this.#document = this.#points = this.#history = this.#uptime = this.#diagnosis = this.#message = null;
    if (id === null) { fill(this.element); return; }
    this.render();
    await this.load();
    this.element.focus({ preventScroll: true });
  }

  /** Reads everything again, after a change of the target. */
  async load() {
    const id = this.#id;
    if (id === null) return;
    const path = `targets/${encodeURIComponent(id)}`;
    const step = WINDOWS[this.#window][0];
    const read = (name) => this.#api("GET", `${path}${name}`).catch((problem) => ({ problem }));
    const past = (name) => this.#model.hasHistory ? read(name) : { problem: null };
    const definition = read("");
    const [document, diagnosis, points, history, uptime, series] = await Promise.all([
      // A paused target has no diagnosis.
      definition, definition.then((target) => target.problem || target.paused ? null : read("/explain")),
      past(`/latency?step=${step}&window=${this.#window}`), past("/history?limit=50&order=desc"),
      past(`/uptime?window=${this.#window}`),
      this.#model.hasHistory
        ? this.#api("GET", `targets/overview?series=all&id=${encodeURIComponent(id)}`).catch(() => null) : null,
    ]);
    // Another target was chosen meanwhile.
    if (id !== this.#id) return;
    if (series) this.#model.setSeries(series, Date.now());
    this.#document = document.problem ? null : document;
    this.#message = document.problem ? document.problem.detail : this.#message;
    this.#diagnosis = diagnosis?.problem ? null : diagnosis;
    this.#points = points.steps === undefined ? null : points.steps;
    this.#history = history.history === undefined ? null : history.history;
    this.#uptime = uptime.availability === undefined ? null : uptime;
    this.render();
  }

  render() {
    if (this.#id === null) return;
    const target = this.#model.targets.get(this.#id);
    const title = h("h2", { id: "detail-title" }, this.#id,
      " ", h("button", { type: "button", class: "close", "aria-label": text("close"), onclick: () => { location.hash = "#/"; } }, "×"));
    if (!target && !this.#document) {
      fill(this.element, title, h("p", { class: "muted" }, this.#message || ""));
      return;
    }
    const state = target?.state ?? this.#document.state;
    const reason = target?.reason ?? this.#document?.reason;
    fill(this.element, title,
      h("p", {}, badge(state, word("states", state), word("stateHints", state)), " ",
        [word("reasons", reason), target?.isFlapping && word("flags", "flapping"), target?.isPending && word("flags", "pending"),
          target && text("since", { duration: duration(Date.now() - target.since, units()) })]
          .filter(Boolean).join(", ")),
      h("p", { class: "muted" }, word("stateHints", state)),
      h("p", { class: "mono wrap" }, target?.target ?? this.#document.target,
        this.#document ? ` · ${this.#document.module} · ${text("interval", { time: time(this.#document.intervalSeconds) })}` : ""),
      this.#actions(), this.#steps(), this.#lastCheck(), this.#plot(target), this.#events());
  }

  #actions() {
    const button = (label, action, isEnabled = true) =>
      h("button", { type: "button", disabled: this.#isBusy || !isEnabled, onclick: () => this.#run(action) }, label);
    const id = encodeURIComponent(this.#id);
    const isPaused = this.#document?.paused ?? false;
    return h("div", { class: "actions" },
      button(text("checkNow"), () => this.#api("POST", `targets/${id}/check`), !isPaused),
      isPaused ? button(text("resume"), () => this.#api("POST", `targets/${id}/resume`))
        : button(text("pause"), () => this.#api("POST", `targets/${id}/pause`)),
      this.#message ? h("p", { role: "alert", class: "problem" }, this.#message) : null);
  }

  async #run(action) {
    const id = this.#id;
    this.#isBusy = true;
    this.#message = null;
    this.render();
    try {
      await action();
    } catch (problem) {
      if (id === this.#id) {
        this.#message = text("error", { detail: problem.detail })
          + (problem.requestID ? ` ${text("requestID", { id: problem.requestID })}` : "");
      }
    }
    this.#isBusy = false;
    if (id === this.#id) await this.load();
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
      check.detail ? h("p", { class: "mono wrap" }, check.detail) : null,
      phases.length === 0 ? null : h("ul", { class: "phases" }, phases.map(([name, seconds]) =>
        h("li", {}, h("span", {}, word("phases", name)),
          h("meter", { min: 0, max: total || 1, value: seconds, "aria-label": word("phases", name) }),
          h("span", { class: "mono" }, latency(seconds * 1e6))))));
  }

  #plot(target) {
    const tabs = h("div", { class: "tabs", role: "group", "aria-label": text("latency") },
      Object.keys(WINDOWS).map((name) => h("button", {
        type: "button", "aria-pressed": name === this.#window ? "true" : "false",
        onclick: () => { this.#window = name; this.load(); },
      }, text(`window${name}`))));
    const canvas = h("canvas", { class: "plot", role: "img", "aria-label": this.#plotText() });
    if (this.#points?.length > 0) drawPlot(canvas, this.#points, WINDOWS[this.#window]);
    const bars = h("canvas", { class: "bars", role: "img", "aria-label": text("availability") });
    const letters = this.#window === "90d" ? target?.series?.bars90 : target?.series?.bars24;
    if (letters) {
      drawBars(prepareCanvas(bars, plotWidth(), 22), letters, plotWidth(), this.#window === "90d" ? 90 : 48, colours());
    }
    return h("section", {}, h("h3", {}, text("latency")), tabs,
      this.#points?.length > 0 ? canvas : h("p", { class: "muted" }, text(this.#points ? "noData" : "noHistory")),
      letters ? [h("p", { class: "muted small" }, `${text("state")}: ${text(this.#window === "90d" ? "window90d" : "window24h")}`), bars] : null,
      this.#uptime ? h("p", {}, this.#uptimeText()) : null);
  }

  #uptimeText() {
    const { availability, outages } = this.#uptime;
    const parts = [availability === null ? text("noData")
      : text("available", { share: share(Math.floor(availability * 10000)) })];
    const count = Array.isArray(outages) ? outages.length : outages;
    if (typeof count === "number") parts.push(text(count === 1 ? "outageOne" : "outages", { count }));
    return parts.join(", ");
  }

  #plotText() {
    const values = (this.#points || []).map((point) => point.quantiles["0.5"])
      .filter((value) => typeof value === "number");
    if (values.length === 0) return text("noData");
    const sorted = [...values].sort((a, b) => a - b);
    const at = (share) => latency(sorted[Math.floor(share * (sorted.length - 1))] * 1e6);
    return `${text("min")} ${at(0)}, ${text("median")} ${at(0.5)}, ${text("max")} ${at(1)}`;
  }

  #steps() {
    if (!this.#diagnosis) return null;
    const marks = { pass: "up", fail: "down", notReached: "unknown" };
    return h("section", {}, h("h3", {}, text("diagnosis")), h("ol", { class: "steps" },
      this.#diagnosis.steps.map((step) => h("li", { class: step.verdict },
        badge(marks[step.verdict], word("steps", step.step)), " ", h("span", { class: "wrap" }, step.evidence || ""),
        step.advice ? h("p", { class: "advice" }, step.advice) : null))));
  }

  #events() {
    if (!this.#history) return null;
    return h("section", {}, h("h3", {}, text("history")), h("ol", { class: "events" }, this.#history.map((item) =>
      h("li", { class: "event" }, h("time", { datetime: item.time }, clock(Date.parse(item.time))), " ",
        badge(item.to, text("from", { from: word("history", item.from), to: word("history", item.to) })), " ",
        word("reasons", item.reason)))));
  }
}

/** A number of seconds with its unit; intervals may be shorter than a second. */
function time(seconds) {
  return seconds < 1 ? latency(seconds * 1e6) : duration(seconds * 1000, units());
}

/** Draws the median with the band from minimum to maximum, and a strip of failed checks below. */
function drawPlot(canvas, points, [, span]) {
  const width = plotWidth();
  const context = prepareCanvas(canvas, width, PLOT_HEIGHT);
  const palette = colours();
  const end = Date.now();
  const x = (point) => width * (1 - (end - Date.parse(point.start)) / span);
  const height = PLOT_HEIGHT - 16;
  const values = points.filter((point) => typeof point.maxSeconds === "number");
  const top = Math.max(...values.map((point) => point.maxSeconds), 1e-6);
  const y = (seconds) => height * (1 - seconds / top);
  context.fillStyle = palette.muted;
  context.globalAlpha = 0.35;
  for (const point of values) {
    const [low, high] = [y(point.minSeconds), y(point.maxSeconds)];
    context.fillRect(x(point), high, 3, Math.max(1, low - high));
  }
  context.globalAlpha = 1;
  context.strokeStyle = palette.text;
  context.beginPath();
  let last = null;
  for (const point of values) {
    const at = [x(point) + 1.5, y(point.quantiles["0.5"] ?? point.maxSeconds)];
    // A break in the data is a break in the line.
    if (last && at[0] - last[0] < width / 12) context.lineTo(...at); else context.moveTo(...at);
    last = at;
  }
  context.stroke();
  context.fillStyle = palette.down;
  for (const point of points) {
    if (!point.failed) continue;
    const part = Math.max(0.15, point.failed / Math.max(1, point.checks));
    context.fillRect(x(point), PLOT_HEIGHT - 12 * part, 3, 12 * part);
  }
  context.fillStyle = palette.line;
  context.fillRect(0, height + 1, width, 1);
  context.fillStyle = palette.muted;
  context.font = "11px system-ui, sans-serif";
  context.fillText(values.length > 0 ? latency(top * 1e6) : text("onlyFailures"), 2, 11);
}
