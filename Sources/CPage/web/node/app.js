// The page of a node: one view of the model, redrawn at most once per frame.

import { askForToken } from "../common/access.js";
import { Announcer } from "../common/announcer.js";
import { Client } from "../common/client.js";
import { forgetColours, h, setAttribute } from "../common/dom.js";
import { BASE, Frame, headerButton } from "../common/frame.js";
import { listenForKeys } from "../common/keys.js";
import { atMostEvery, oncePerFrame } from "../common/pacing.js";
import { takeToken, useStoredLanguage, useStoredTheme } from "../common/preferences.js";
import { readRoute, targetRoute } from "../common/route.js";
import { GLYPHS, joined, text, word } from "../common/words.js";
import { Changes } from "./changes.js";
import { applyMessage } from "./connection.js";
import { Detail } from "./detail.js";
import { HubPort } from "./hubport.js";
import { MissedNote } from "./missed.js";
import { Model, STATES } from "./model.js";
import { SeriesReader } from "./series.js";
import { Summary } from "./summary.js";
import { TargetsSection } from "./targets.js";
import { Timeline } from "./timeline.js";

/** How long the timeline stays while targets change, in ms. */
const TIMELINE_INTERVAL = 250;
/** How often the series of the visible targets and the open target are read again, in ms. */
const REFRESH_INTERVAL = 15_000;

class Page {
  #model = new Model();
  #changes = new Changes();
  #missed = new MissedNote();
  #summary = new Summary();
  #timeline = new Timeline();
  #announcer = new Announcer(() => this.#changes.take(this.#model));
  #targets = new TargetsSection(this.#model, {
    keepsURL: () => this.#detail.id === null, onVisible: () => this.#series.readMissing(),
  });
  #menu = headerButton(text("menu"), "≡", () => this.#showTimeline(!this.#showsTimeline), { class: "menu", "aria-expanded": "false" });
  #main;
  #frame;
  #hub;
  #detail;
  #series;
  #draw = oncePerFrame(() => this.#render());
  #renderTimeline = atMostEvery(TIMELINE_INTERVAL, () => this.#timeline.render(this.#model));

  constructor(language, token) {
    const client = new Client(BASE, token);
    this.#hub = new HubPort(token, (message) => this.#receive(message));
    this.#frame = new Frame(language, {
      name: location.host, keys: text("keyHelp"), buttons: [this.#menu], recolour: () => this.#recolour(),
      retry: () => this.#hub.retry(),
    });
    this.#detail = new Detail(this.#model, client, {
      onClose: () => this.#close(), onDenied: (problem) => askForToken(this.#frame.access, problem),
    });
    this.#series = new SeriesReader(this.#model, client, {
      visibleIDs: () => this.#targets.list.visibleIDs, isActive: () => this.#isActive, onRead: this.#draw,
    });
    this.#main = h("main", {}, this.#summary.element, this.#missed.element,
      h("div", { class: "columns" }, this.#targets.element, this.#timeline.element, this.#detail.element));
    this.#frame.show(this.#main, this.#announcer.element);
  }

  start() {
    this.#hub.connect();
    setInterval(() => this.#tick(), 1000);
    setInterval(() => this.#refresh(), REFRESH_INTERVAL);
    document.addEventListener("visibilitychange", () => this.#refresh());
    addEventListener("hashchange", () => this.#route());
    listenForKeys({
      j: () => this.#move(1), k: () => this.#move(-1), "/": () => this.#targets.filter.search.focus(),
      l: () => { this.#showTimeline(true); this.#timeline.element.focus(); }, "?": () => this.#frame.help.showModal(),
      Enter: (event) => event.target === document.body && this.#targets.list.open(),
    }, () => this.#escape());
    this.#route();
  }

  // MARK: Data

  /** Whether the page is looked at and follows the service. */
  get #isActive() { return this.#frame.isLive && !document.hidden; }

  #receive(message) {
    if (message.kind === "status") {
      const old = this.#frame.follow(message.status);
      if (message.status.state === "disconnected" && old.state !== "disconnected") this.#missed.forget();
    } else if (message.kind === "all") {
      this.#model.load(message.model);
      this.#detail.load();
    } else {
      this.#note(applyMessage(this.#model, message));
      if (message.kind === "overview") this.#detail.load();
    }
    this.#draw();
  }

  #note(events) {
    this.#missed.note(events);
    this.#changes.note(events);
    const open = this.#detail.id;
    if (open !== null && events.some((event) => event.type === "target" && event.data.target.id === open)) this.#detail.loadSoon();
  }

  /** Reads what changes without an event. */
  #refresh() {
    if (!this.#isActive) return;
    this.#series.read();
    this.#detail.load({ isQuiet: true });
  }

  // MARK: Drawing

  #render() {
    this.#summary.render(this.#model);
    this.#renderTimeline();
    this.#targets.render(this.#model.takeChanges(), this.#frame.isLive);
    this.#renderStatus();
    this.#renderTitle();
  }

  #renderStatus() {
    if (this.#main.classList.contains("without-history") === this.#model.hasHistory) {
      this.#main.classList.toggle("without-history", !this.#model.hasHistory);
      this.#targets.list.resize();
    }
    this.#frame.renderStatus(this.#model.machine !== null);
    this.#missed.render(this.#frame.isLive);
  }

  #renderTitle() {
    const { isLive } = this.#frame;
    const state = isLive ? this.#model.worstState() : "unknown";
    const machine = this.#model.machine?.status ?? "unknown";
    const counts = ["down", "unreachable"].filter((name) => this.#model.counts[name] > 0)
      .map((name) => `${this.#model.counts[name]} ${word("states", name)}`);
    if (counts.length === 0 || machine === "notReachable") counts.unshift(word("machine", machine));
    this.#frame.renderTitle(`${GLYPHS[state]} ${isLive ? joined(counts) : text("notLive")} · ${location.host} · reachd`, state);
  }

  #tick() {
    this.#summary.tick();
    this.#detail.tick();
    this.#renderTimeline();
    if (!this.#frame.isLive) this.#renderStatus();
    this.#announcer.tick();
  }

  #recolour() {
    forgetColours();
    this.#targets.list.redraw();
    if (this.#detail.id !== null) this.#detail.render();
  }

  // MARK: Navigation

  #route() {
    const { list, filter } = this.#targets;
    const route = readRoute(location.hash, STATES);
    const hadFocus = this.#detail.element.contains(document.activeElement);
    this.#main.classList.toggle("detail-open", route.id !== null);
    if (route.id !== null) list.mark(route.id);
    this.#detail.show(route.id);
    if (route.id !== null) return;
    if (hadFocus) list.focus();
    filter.read(route);
    this.#targets.order();
  }

  #close() { location.hash = this.#targets.filter.route; }

  get #showsTimeline() { return this.#main.classList.contains("timeline-open"); }

  /** Shows the timeline in place of the list or a target, where there is no space for both. */
  #showTimeline(isShown) {
    if (isShown && this.#detail.id !== null) this.#close();
    this.#main.classList.toggle("timeline-open", isShown);
    setAttribute(this.#menu, "aria-expanded", String(isShown));
  }

  #escape() {
    if (this.#detail.id !== null) this.#close();
    else if (this.#showsTimeline) this.#showTimeline(false);
  }

  /** Selects the next or previous target; an open one is replaced. */
  #move(offset) {
    const { list } = this.#targets;
    list.move(offset);
    if (this.#detail.id !== null && list.selected !== null) location.replace(targetRoute(list.selected));
  }
}

const token = takeToken();
useStoredTheme();
new Page(useStoredLanguage(), token).start();
