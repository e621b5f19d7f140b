// The page: one view of the model, redrawn at most once per frame.

import { Connection, applyMessage } from "./connection.js";
import { atMostEvery, fill, forgetColours, freezeAges, h, oncePerFrame, setAttribute, setClockOffset, setText } from "./dom.js";
import { Detail } from "./detail.js";
import { TargetList } from "./list.js";
import { Model, STATES, makeFilter } from "./model.js";
import { askForToken, headerButton, headerButtons, listRoute, readRoute, takeToken, targetRoute, useStoredLanguage, useStoredTheme } from "./preferences.js";
import { Summary, Timeline } from "./summary.js";
import { Banner, firstSteps, reloadAfterUpgrade } from "./notices.js";
import { problemOf } from "./stream.js";
import { GLYPHS, joined, text, word } from "./words.js";

/** How long the order of the list and the timeline stay while targets change, in ms. */
const ORDER_INTERVAL = 250;
/** The shortest time between two requests for series while the visible targets change, in ms. */
const SERIES_DELAY = 500;
/** How often the series of the visible targets and the open target are read again, in ms. */
const SERIES_INTERVAL = 15_000;
/** The targets in one request for series. */
const SERIES_LIMIT = 64;
/** The interval of announcements to screen readers, in ms. */
const ANNOUNCE_INTERVAL = 5000;
/** How long a page without a worker keeps its stream while hidden, in ms. */
const HIDDEN_LIMIT = 30_000;

const NUMBER = new Intl.NumberFormat("en");
const BASE = new URL(".", location.href).href;
const BUILD = document.getElementById("app").dataset.build;

/** FNV-1a, to name the worker of a token without the token. */
function hash(string) {
  let value = 0x811c9dc5;
  for (let index = 0; index < string.length; index += 1) value = Math.imul(value ^ string.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(16);
}

class Page {
  #model = new Model();
  #token = null;
  #status = { state: "connecting", since: Date.now() };
  #send = () => {};
  #missed = 0;
  #hadGap = false;
  #announced = { at: 0, ids: new Set(), hasMachine: false };
  #states = new Set();
  #summary = new Summary();
  #timeline;
  #list;
  #detail;
  #parts = {};
  #draw = oncePerFrame(() => this.#render());
  #orderSoon = atMostEvery(ORDER_INTERVAL, () => this.#order());
  #showTimeline = atMostEvery(ORDER_INTERVAL, () => this.#timeline.render(this.#model));
  #readSeriesSoon = atMostEvery(SERIES_DELAY, () => this.#readSeries());

  start() {
    this.#token = takeToken();
    useStoredTheme();
    this.#build();
    this.#connect();
    setInterval(() => this.#tick(), 1000);
    setInterval(() => this.#refresh(), SERIES_INTERVAL);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#refresh(); });
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => this.#key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#recolour());
    this.#route();
  }

  // MARK: Connection

  #connect() {
    const hello = { kind: "hello", base: BASE, token: this.#token };
    if (globalThis.SharedWorker) {
      const policy = globalThis.trustedTypes?.createPolicy("reachd", { createScriptURL: (url) => url });
      const url = new URL(`page/${BUILD}/hub.js`, BASE).href;
      const worker = new SharedWorker(policy ? policy.createScriptURL(url) : url,
        { type: "module", name: `reachd-${BUILD}-${hash(this.#token ?? "")}` });
      worker.port.onmessage = (event) => this.#receive(event.data);
      worker.onerror = () => this.#connectLocally();
      worker.port.postMessage(hello);
      this.#send = (message) => worker.port.postMessage(message);
      addEventListener("pagehide", () => worker.port.postMessage({ kind: "bye" }));
      addEventListener("pageshow", (event) => { if (event.persisted) worker.port.postMessage(hello); });
      return;
    }
    this.#connectLocally();
  }

  #connectLocally() {
    const connection = new Connection(BASE, this.#token, (message) => this.#receive(message));
    this.#send = (message) => { if (message.kind === "retry") connection.retry(); };
    let timer = null;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => connection.stop(), HIDDEN_LIMIT);
      else connection.start();
    });
    connection.start();
  }

  #receive(message) {
    if (message.kind === "status") {
      this.#follow(message.status);
    } else if (message.kind === "all") {
      this.#model.load(message.model);
      this.#detail.load();
    } else {
      const events = applyMessage(this.#model, message);
      if (message.kind === "overview") this.#detail.load();
      this.#missed += events.filter((event) => event.isMissed).length;
      if (events.some((event) => event.type === "gap")) this.#hadGap = true;
      this.#noteForAnnouncement(events);
      const open = this.#detail.id;
      if (open !== null && events.some((event) => event.type === "target" && event.data.target.id === open)) {
        this.#detail.loadSoon();
      }
    }
    this.#draw();
  }

  #follow(status) {
    const old = this.#status.state;
    this.#status = status;
    if (status.state === "disconnected" && old !== "disconnected") { this.#missed = 0; this.#hadGap = false; }
    if (status.state === "live") {
      setClockOffset(status.clockOffset ?? 0);
      if (old === "disconnected") reloadAfterUpgrade(BASE, BUILD);
    }
    freezeAges(status.state === "live" ? null : status.since);
  }

  /** Requests a document; throws `{detail, requestID, status, scope}`. */
  #api = async (method, path) => {
    let response;
    try {
      response = await fetch(new URL(path, BASE), {
        method, cache: "no-cache",
        headers: { Accept: "application/json", ...(this.#token ? { Authorization: `Bearer ${this.#token}` } : {}) },
      });
    } catch (error) {
      throw { detail: String(error.message || error), requestID: null, status: 0, scope: null };
    }
    if (response.ok) return response.status === 204 ? null : response.json();
    throw await problemOf(response);
  };

  #seriesRequest = null;

  /** Whether a visible target has no series. */
  get #lacksSeries() { return this.#list.visibleIDs.some((id) => !this.#model.targets.get(id)?.series); }

  /** Reads what changes without an event. */
  #refresh() {
    if (this.#status.state !== "live" || document.hidden) return;
    this.#readSeries();
    this.#detail.load({ isQuiet: true });
  }

  /** Reads the series of the visible targets. */
  async #readSeries() {
    const visible = this.#list.visibleIDs;
    const ids = visible.slice(0, SERIES_LIMIT);
    if (ids.length === 0 || !this.#model.hasHistory || this.#status.state !== "live" || document.hidden || this.#seriesRequest) return;
    const query = ids.map((id) => `id=${encodeURIComponent(id)}`).join("&");
    this.#seriesRequest = this.#api("GET", `targets/overview?series=all&${query}`);
    try {
      this.#model.setSeries(await this.#seriesRequest, Date.now());
      this.#draw();
    } catch { /* The next interval tries again; the connection reports its own failures. */ }
    this.#seriesRequest = null;
    // The list was scrolled meanwhile.
    if (this.#list.visibleIDs !== visible && this.#lacksSeries) this.#readSeriesSoon();
  }

  // MARK: Elements

  #build() {
    const language = useStoredLanguage();
    const parts = this.#parts;
    this.#timeline = new Timeline();
    this.#list = new TargetList(this.#model, {
      onOpen: (id) => { location.hash = targetRoute(id); },
      onVisible: () => { if (this.#lacksSeries) this.#readSeriesSoon(); },
    });
    this.#detail = new Detail(this.#model, this.#api, {
      onClose: () => this.#close(), onDenied: (problem) => askForToken(parts.access, problem),
    });
    parts.connection = h("p", { class: "connection", role: "status" });
    parts.access = h("dialog", { class: "dialog" });
    parts.banner = new Banner(parts.access);
    parts.missedText = h("span", { role: "status" });
    parts.missed = h("p", { class: "missed-note", hidden: true }, parts.missedText, " ", h("button", {
      type: "button", onclick: () => { this.#missed = 0; this.#hadGap = false; this.#draw(); },
    }, text("dismiss")));
    parts.search = h("input", {
      type: "search", placeholder: text("search"), "aria-label": text("search"), autocomplete: "off", spellcheck: "false",
      oninput: () => { this.#setRoute(); this.#order(); },
    });
    parts.chips = h("div", { class: "chips", role: "group", "aria-label": text("state") }, STATES.map((state) =>
      h("button", { type: "button", class: `chip ${state}`, "data-state": state, "aria-pressed": "false",
        title: `${word("states", state)}: ${word("stateHints", state)}`,
        onclick: () => this.#toggle(state) }, h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[state]), " ",
      h("span", { class: "count" }, "–"), h("span", { class: "label" }, ` ${word("states", state)}`))));
    parts.empty = h("div", { class: "empty", hidden: true });
    parts.noMatch = h("div", { class: "empty", hidden: true }, h("p", { class: "muted", role: "status" }, text("noMatch")),
      h("p", {}, h("button", { type: "button", onclick: () => { location.hash = "#/"; this.#parts.search.focus(); } }, text("showAll"))));
    parts.live = h("div", { class: "visually-hidden", "aria-live": "polite" });
    parts.main = h("main", {}, this.#summary.element, parts.missed,
      h("div", { class: "columns" },
        h("section", { class: "targets", "aria-label": text("targets") },
          h("div", { class: "tools" }, parts.search, parts.chips), parts.empty, this.#list.header, parts.noMatch, this.#list.scroller),
        this.#timeline.element, this.#detail.element));
    parts.help = h("dialog", { class: "dialog" }, h("h2", {}, text("keys")),
      h("ul", { class: "keys" }, text("keyHelp").split(" · ").map((line) => h("li", {}, line))),
      h("button", { type: "button", onclick: () => parts.help.close() }, text("close")));
    fill(document.getElementById("app"), this.#header(language), parts.banner.element, parts.main, parts.access, parts.help,
      parts.live);
  }

  #header(language) {
    const { help, access, main } = this.#parts;
    return h("header", {}, h("strong", { class: "name" }, "reachd"), h("span", { class: "host" }, location.host),
      this.#parts.connection,
      h("div", { class: "buttons" },
        headerButtons(language, { recolour: () => this.#recolour(), help, access }),
        headerButton(text("menu"), "≡", (event) => this.#showsTimeline(!main.classList.contains("timeline-open"), event.currentTarget),
          { class: "menu", "aria-expanded": "false" })));
  }

  // MARK: Drawing

  #render() {
    const { ids, mustRebuild } = this.#model.takeChanges();
    this.#summary.render(this.#model);
    this.#showTimeline();
    if (mustRebuild) this.#orderSoon();
    if (ids.size > 0) this.#list.update(ids);
    for (const chip of this.#parts.chips.children) {
      setText(chip.children[1], this.#model.isLoaded ? NUMBER.format(this.#model.counts[chip.dataset.state]) : "–");
    }
    const isEmpty = this.#model.isLoaded && this.#model.targets.size === 0 && this.#status.state === "live";
    if (isEmpty !== !this.#parts.empty.hidden) this.#showEmpty(isEmpty);
    this.#renderStatus();
    this.#renderTitle();
  }

  #order() {
    const filter = makeFilter(this.#parts.search.value, this.#states);
    this.#list.show(this.#model.select(filter));
    this.#parts.noMatch.hidden = this.#list.ids.length > 0 || this.#model.targets.size === 0;
    this.#list.scroller.classList.toggle("is-empty", this.#list.ids.length === 0);
  }

  #renderStatus() {
    const { connection, banner, main, missed, missedText } = this.#parts;
    const status = this.#status;
    const isLive = status.state === "live";
    if (main.classList.contains("without-history") === this.#model.hasHistory) {
      main.classList.toggle("without-history", !this.#model.hasHistory);
      this.#list.resize();
    }
    document.documentElement.classList.toggle("outdated", !isLive && this.#model.machine !== null);
    setText(connection, isLive ? `● ${text("live")}` : status.state === "connecting" ? "…" : `○ ${text("notLive")}`);
    setAttribute(connection, "class", `connection ${status.state}`);
    banner.render(status, { hasData: this.#model.machine !== null, retry: () => this.#send({ kind: "retry" }) });
    const note = this.#hadGap ? text("gap")
      : this.#missed > 0 ? text(this.#missed === 1 ? "missedOne" : "missed", { count: this.#missed }) : "";
    setText(missedText, note);
    missed.hidden = note === "" || !isLive;
  }

  #renderTitle() {
    const isLive = this.#status.state === "live";
    const state = isLive ? this.#model.worstState() : "unknown";
    const machine = this.#model.machine?.status ?? "unknown";
    const counts = ["down", "unreachable"].filter((name) => this.#model.counts[name] > 0)
      .map((name) => `${this.#model.counts[name]} ${word("states", name)}`);
    if (counts.length === 0 || machine === "notReachable") counts.unshift(word("machine", machine));
    const title = `${GLYPHS[state]} ${isLive ? joined(counts) : text("notLive")} · ${location.host} · reachd`;
    if (document.title !== title) document.title = title;
    setAttribute(document.getElementById("icon"), "href", `page/${BUILD}/state-${state}.svg`);
  }

  #tick() {
    this.#summary.tick();
    this.#detail.tick();
    this.#showTimeline();
    if (this.#status.state !== "live") this.#renderStatus();
    this.#announce();
  }

  // MARK: Announcements

  #noteForAnnouncement(events) {
    for (const { type, data } of events) {
      if (type === "target" && !data.removed) this.#announced.ids.add(data.target.id);
      if (type === "status") this.#announced.hasMachine = true;
    }
  }

  /** Announces changes to screen readers: one text per interval, because each interrupts the reader. */
  #announce() {
    const { ids, at, hasMachine } = this.#announced;
    if ((ids.size === 0 && !hasMachine) || Date.now() - at < ANNOUNCE_INTERVAL) return;
    const [id] = ids;
    const state = this.#model.targets.get(id)?.state;
    const machine = hasMachine && this.#model.machine
      ? text("announceMachine", { state: word("machine", this.#model.machine.status) }) : null;
    const targets = ids.size === 0 ? null : ids.size === 1 && state
      ? text("announce", { name: id, state: word("states", state) }) : text("announceMany", { count: ids.size });
    setText(this.#parts.live, [machine, targets].filter(Boolean).join(". "));
    this.#announced = { at: Date.now(), ids: new Set(), hasMachine: false };
  }

  // MARK: Navigation

  /** Shows what the fragment names. */
  #route() {
    const { main, search } = this.#parts;
    const route = readRoute(STATES);
    const { id } = route;
    if (id !== null) {
      main.classList.add("detail-open");
      this.#list.mark(id);
      this.#detail.show(id);
      return;
    }
    const hadFocus = this.#detail.element.contains(document.activeElement);
    main.classList.remove("detail-open");
    this.#detail.show(null);
    if (hadFocus) this.#list.focus();
    search.value = route.search;
    this.#states = route.states;
    this.#showStates();
    this.#order();
  }

  /** The fragment of the list with the present search and states. */
  get #listRoute() { return listRoute(this.#parts.search.value, this.#states); }

  /** Keeps the search in the URL; beside an open target, until it is closed. */
  #setRoute() {
    if (this.#detail.id === null) history.replaceState(null, "", this.#listRoute);
  }

  /** Closes the open target. */
  #close() { location.hash = this.#listRoute; }

  /** Shows the timeline in place of the list or a target, where there is no space for both. */
  #showsTimeline(isShown, button = this.#parts.main.parentNode.querySelector(".menu")) {
    if (isShown && this.#detail.id !== null) this.#close();
    this.#parts.main.classList.toggle("timeline-open", isShown);
    setAttribute(button, "aria-expanded", isShown ? "true" : "false");
  }

  #toggle(state) {
    if (!this.#states.delete(state)) this.#states.add(state);
    this.#showStates();
    this.#setRoute();
    this.#order();
  }

  #showStates() {
    for (const chip of this.#parts.chips.children) {
      setAttribute(chip, "aria-pressed", this.#states.has(chip.dataset.state) ? "true" : "false");
    }
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input, textarea, select");
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (isTyping) event.target.blur();
      else if (this.#detail.id !== null) this.#close();
      else if (this.#parts.main.classList.contains("timeline-open")) this.#showsTimeline(false);
      return;
    }
    if (isTyping) return;
    if (event.key === "j") this.#move(1);
    else if (event.key === "k") this.#move(-1);
    else if (event.key === "/") this.#parts.search.focus();
    else if (event.key === "l") { this.#showsTimeline(true); this.#timeline.element.focus(); }
    else if (event.key === "?") this.#parts.help.showModal();
    else if (event.key === "Enter" && event.target === document.body) this.#list.open();
    else return;
    event.preventDefault();
  }

  /** Selects the next or previous target; an open one is replaced. */
  #move(offset) {
    this.#list.move(offset);
    if (this.#detail.id !== null && this.#list.selected !== null) {
      location.replace(targetRoute(this.#list.selected));
    }
  }

  // MARK: Theme, first steps

  #recolour() {
    forgetColours();
    this.#list.redraw();
    if (this.#detail.id !== null) this.#detail.render();
  }

  #showEmpty(isEmpty) {
    this.#parts.empty.hidden = !isEmpty;
    this.#list.scroller.hidden = this.#list.header.hidden = isEmpty;
    if (!isEmpty) return;
    fill(this.#parts.empty, firstSteps(BASE));
  }
}

new Page().start();
