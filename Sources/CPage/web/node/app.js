// The page of a node: one view of the model, redrawn at most once per frame.

import { askForToken } from "../common/access.js";
import { Announcer } from "../common/announcer.js";
import { Client } from "../common/client.js";
import { forgetColours, h, setAttribute } from "../common/dom.js";
import { BASE, Frame, headerButton } from "../common/frame.js";
import { listenForKeys } from "../common/keys.js";
import { atMostEvery, oncePerFrame } from "../common/pacing.js";
import { takeToken, useStoredLanguage, useStoredTheme } from "../common/preferences.js";
import { GLYPHS, text } from "../common/words.js";
import { Changes } from "./changes.js";
import { applyMessage } from "./connection.js";
import { Detail } from "./detail.js";
import { HubPort } from "./hubport.js";
import { MissedNote } from "./missed.js";
import { Model } from "./model.js";
import { Navigation } from "./navigation.js";
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
  #timeline = new Timeline(this.#model);
  #announcer = new Announcer(() => this.#changes.take(this.#model));
  /** A view for a screen on a wall: the problems in large type, without controls. */
  #isKiosk = new URLSearchParams(location.search).has("kiosk");
  #targets = new TargetsSection(this.#model, {
    isKiosk: this.#isKiosk, onFilter: () => this.#navigation.write(), onOpen: (id) => this.#navigation.open(id),
    onVisible: () => this.#series.readMissing(),
  });
  #menu = headerButton(text("menu"), "≡", () => this.#showTimeline(!this.#showsTimeline), { class: "menu", "aria-expanded": "false" });
  #main;
  #frame;
  #hub;
  #detail;
  #navigation;
  #series;
  #draw = oncePerFrame(() => this.#render());
  #renderTimeline = atMostEvery(TIMELINE_INTERVAL, () => this.#timeline.render());
  #renderHeadline = atMostEvery(TIMELINE_INTERVAL, () => this.#showHeadline());

  constructor(language, token) {
    const client = new Client(BASE, token);
    this.#hub = new HubPort(token, (message) => this.#receive(message));
    this.#frame = new Frame(language, {
      name: location.host, keys: text("keyHelp"), buttons: [this.#menu], recolour: () => this.#recolour(),
      retry: () => this.#hub.retry(),
    });
    this.#detail = new Detail(this.#model, client, {
      onClose: () => this.#close(), onDenied: (problem) => askForToken(this.#frame.access, problem),
      onWindow: () => this.#navigation.write(),
    });
    this.#series = new SeriesReader(this.#model, client, {
      visibleIDs: () => this.#targets.list.visibleIDs, isActive: () => this.#isActive, onRead: this.#draw,
    });
    this.#main = h("main", {}, this.#summary.element, this.#missed.element,
      h("div", { class: "columns" }, this.#targets.element, this.#detail.element, this.#timeline.element));
    this.#navigation = new Navigation({ main: this.#main, targets: this.#targets, detail: this.#detail });
    this.#frame.show(this.#main, this.#announcer.element);
    document.documentElement.classList.toggle("kiosk", this.#isKiosk);
  }

  start() {
    this.#hub.connect();
    setInterval(() => this.#tick(), 1000);
    setInterval(() => this.#refresh(), REFRESH_INTERVAL);
    document.addEventListener("visibilitychange", () => this.#refresh());
    addEventListener("hashchange", () => this.#navigation.read());
    listenForKeys({
      j: () => this.#move(1), k: () => this.#move(-1), "/": () => this.#targets.filter.search.focus(),
      l: () => { this.#showTimeline(true); this.#timeline.element.focus(); }, "?": () => this.#frame.help.showModal(),
      Enter: (event) => event.target === document.body && this.#targets.list.open(),
    }, () => this.#escape());
    this.#navigation.read();
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
    this.#renderHeadline();
  }

  #renderStatus() {
    if (this.#main.classList.contains("without-history") === this.#model.hasHistory) {
      this.#main.classList.toggle("without-history", !this.#model.hasHistory);
      this.#targets.list.resize();
    }
    this.#frame.renderStatus(this.#model.machine !== null);
    this.#missed.render(this.#frame.isLive);
  }

  /** The headline, and the same in the title and the icon. */
  #showHeadline() {
    const { isLive } = this.#frame;
    const { state, words } = this.#summary.renderHeadline(this.#model);
    this.#frame.renderTitle(`${isLive ? GLYPHS[state] : GLYPHS.unknown} ${isLive ? words : text("notLive")} · ${location.host} · reachd`,
      isLive ? state : "unknown");
  }

  #tick() {
    this.#summary.tick();
    this.#renderHeadline();
    this.#targets.list.tick();
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

  #close() { this.#navigation.close(); }

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
    if (this.#detail.id !== null && list.selected !== null) this.#navigation.replace(list.selected);
  }
}

const token = takeToken();
useStoredTheme();
new Page(useStoredLanguage(), token).start();
