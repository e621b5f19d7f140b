// The page of a replica: problems first, then who reaches whom, the targets with their verdicts, and the agents.

import { askForToken } from "../common/access.js";
import { Announcer } from "../common/announcer.js";
import { Client } from "../common/client.js";
import { fill, forgetColours, h, setText } from "../common/dom.js";
import { FilterBar } from "../common/filterbar.js";
import { timeZone } from "../common/format.js";
import { BASE, Frame, stopWhileHidden } from "../common/frame.js";
import { listenForKeys } from "../common/keys.js";
import { atMostEvery } from "../common/pacing.js";
import { takeToken, useStoredLanguage, useStoredTheme } from "../common/preferences.js";
import { readRoute, targetRoute, writeRoute } from "../common/route.js";
import { labelsOf } from "../common/search.js";
import { dotted, text } from "../common/words.js";
import { FleetConnection } from "./connection.js";
import { FleetDocuments } from "./documents.js";
import { fleetHeadline } from "./headline.js";
import { Matrix } from "./matrix.js";
import { FleetModel, VERDICTS } from "./model.js";
import { FleetReader } from "./reader.js";
import { agentRow, changeItem } from "./rows.js";
import { focusLink, Table } from "./table.js";
import { TargetSection } from "./target.js";
import { TargetTables } from "./tables.js";
import { FLEET_GLYPHS, fleetText, fleetWord, useLanguage } from "./words.js";

/** The shortest time between two drawings, in ms: events may come by thousands. */
const DRAW_INTERVAL = 100;
/** The agents that are shown. */
const AGENT_LIMIT = 500;
/** The icons of the verdicts that have none of their own. */
const ICONS = { partial: "pending", paused: "unknown" };

class FleetPage {
  #model = new FleetModel();
  #documents;
  #connection;
  #frame;
  /** The verdicts that have changed since the last announcement. */
  #changed = 0;
  #announcer = new Announcer(() => this.#takeChanges());
  #filter = new FilterBar(
    VERDICTS.map((state) => ({ state, glyph: FLEET_GLYPHS[state], label: fleetWord("verdicts", state), title: null })), {
      title: fleetText("verdict"), placeholder: fleetText("search"), count: "0", labels: () => labelsOf(this.#model.targets.values()),
      onChange: () => { this.#writeURL(); this.#draw(); },
    });
  #matrix = new Matrix(this.#model);
  #target;
  #tables = new TargetTables(this.#model, (states) => this.#showStates(states));
  #agents = new Table("agents-title", [text("state"), fleetText("agent"), text("forTitle"), fleetText("zone"), fleetText("reached"),
    fleetText("cells"), fleetText("outbox")]);
  #engineNote = h("p", { class: "banner", role: "status", hidden: true }, fleetText("engineAway"));
  #headline = h("h1", { id: "headline", class: "headline state unknown" });
  #summary = h("p", { class: "muted machine" });
  #noAgents = h("p", { class: "empty muted", hidden: true }, fleetText("noAgents"));
  #changes = h("ol", { class: "events" });
  #noChanges = h("p", { class: "muted" }, fleetText("noChanges"));
  #zone = h("p", { class: "muted small" }, text("timesIn", { zone: timeZone() }));
  #draw = atMostEvery(DRAW_INTERVAL, () => this.#render());

  constructor(language, token) {
    const client = new Client(BASE, token);
    const reader = new FleetReader(client);
    this.#documents = new FleetDocuments(this.#model, reader, this.#draw);
    this.#connection = new FleetConnection(client, reader, (message) => this.#receive(message));
    this.#target = new TargetSection(reader, {
      onClose: () => this.#close(), onDenied: (problem) => askForToken(this.#frame.access, problem),
    });
    this.#frame = new Frame(language, {
      name: `${fleetText("fleet")} · ${location.host}`, keys: fleetText("keyHelp"), recolour: () => this.#recolour(),
      retry: () => this.#connection.retry(),
    });
    this.#frame.show(this.#engineNote, this.#content(), this.#announcer.element);
    document.documentElement.classList.toggle("kiosk", new URLSearchParams(location.search).has("kiosk"));
  }

  start() {
    stopWhileHidden(this.#connection);
    this.#connection.start();
    setInterval(() => this.#tick(), 1000);
    addEventListener("hashchange", () => this.#route());
    listenForKeys({ "/": () => this.#filter.search.focus(), "?": () => this.#frame.help.showModal() },
      () => { if (this.#target.id !== null) this.#close(); });
    this.#route();
  }

  #content() {
    return h("main", { class: "fleet" },
      h("section", { class: "summary", "aria-labelledby": "headline" }, this.#headline, this.#summary),
      this.#filter.element, this.#target.element, this.#tables.problems, this.#matrix.element, this.#tables.targets,
      h("section", { "aria-labelledby": "agents-title", class: "agents" }, h("h2", { id: "agents-title" }, fleetText("agents")),
        this.#agents.element, this.#noAgents),
      h("section", { "aria-labelledby": "changes-title", class: "changes" }, h("h2", { id: "changes-title" }, fleetText("changes")),
        this.#noChanges, this.#changes, this.#zone));
  }

  // MARK: Data

  #receive(message) {
    if (message.kind === "status") {
      this.#frame.follow(message.status);
      this.#documents.isLive = this.#frame.isLive;
    } else if (message.kind === "all" || message.kind === "lists") {
      this.#documents.load(message);
    } else {
      for (const { type, data } of message.events) this.#apply(type, data);
    }
    this.#draw();
  }

  #apply(type, data) {
    this.#documents.apply(type, data);
    if (type === "verdict") this.#changed += 1;
    if (this.#target.id !== null && data.target === this.#target.id) this.#target.loadSoon();
  }

  // MARK: Drawing

  #render() {
    const { overview, agents, timeline } = this.#model;
    this.#frame.renderStatus(overview !== null);
    if (overview === null) return;
    const states = [...agents.values()].map((agent) => agent.state);
    const count = (state) => states.filter((each) => each === state).length;
    setText(this.#summary, dotted([
      fleetText("summary", { present: count("present"), lost: count("lost"), replicas: overview.replicas.length }),
      fleetText("replica", { id: overview.replica }),
    ]));
    this.#engineNote.hidden = overview.engine.connected;
    for (const verdict of VERDICTS) this.#filter.setCount(verdict, this.#model.counts[verdict].toLocaleString("en"));
    this.#tables.render(this.#filter, this.#matrix.element);
    const sorted = this.#model.sortedAgents;
    this.#agents.show(sorted.slice(0, AGENT_LIMIT).map(agentRow));
    this.#noAgents.hidden = sorted.length > 0;
    this.#matrix.element.hidden = sorted.length === 0;
    this.#matrix.render();
    this.#noChanges.hidden = timeline.length > 0;
    fill(this.#changes, timeline.map(changeItem));
    this.#renderHeadline();
  }

  /** The headline, and the same in the title and the icon. */
  #renderHeadline() {
    const { state, words, longest } = fleetHeadline(this.#model);
    const glyph = FLEET_GLYPHS[state];
    this.#headline.className = `headline state ${state}`;
    fill(this.#headline, h("span", { class: "glyph", "aria-hidden": "true" }, glyph), ` ${words}`,
      longest === "" ? null : h("span", { class: "longest" }, ` · ${longest}`));
    this.#frame.renderTitle(`${glyph} ${words} · ${fleetText("fleet")} · reachd`, ICONS[state] ?? state);
  }

  #tick() {
    if (!this.#frame.isLive) this.#frame.renderStatus(this.#model.overview !== null);
    this.#announcer.tick();
  }

  #takeChanges() {
    const count = this.#changed;
    this.#changed = 0;
    return count === 0 ? "" : fleetText("announce", { count });
  }

  #recolour() {
    forgetColours();
    this.#matrix.recolour();
  }

  // MARK: Navigation

  get #view() { return { ...this.#filter.view, id: this.#target.id }; }

  #writeURL() { history.replaceState(null, "", writeRoute(this.#view)); }

  /** Shows the targets with some verdicts, as their chips do. */
  #showStates(states) { location.hash = writeRoute({ ...this.#view, states }); }

  #route() {
    const route = readRoute(location.hash, VERDICTS);
    const old = this.#target.id;
    const hadFocus = this.#target.element.contains(document.activeElement);
    this.#target.show(route.id);
    if (!route.isPartial) this.#filter.read(route); else this.#writeURL();
    this.#draw();
    if (route.id === null && hadFocus) focusLink(document, targetRoute(old));
  }

  #close() { location.hash = writeRoute({ ...this.#view, id: null }); }
}

const token = takeToken();
useStoredTheme();
const language = useStoredLanguage();
useLanguage(language);
new FleetPage(language, token).start();
