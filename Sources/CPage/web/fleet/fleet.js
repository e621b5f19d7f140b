// The page of a replica: targets with their verdicts, agents, and the matrix.

import { askForToken } from "../common/access.js";
import { Announcer } from "../common/announcer.js";
import { Client } from "../common/client.js";
import { fill, forgetColours, h, setText } from "../common/dom.js";
import { FilterBar } from "../common/filterbar.js";
import { clock } from "../common/format.js";
import { BASE, Frame, stopWhileHidden } from "../common/frame.js";
import { listenForKeys } from "../common/keys.js";
import { atMostEvery } from "../common/pacing.js";
import { takeToken, useStoredLanguage, useStoredTheme } from "../common/preferences.js";
import { readRoute, targetRoute } from "../common/route.js";
import { text } from "../common/words.js";
import { FleetConnection } from "./connection.js";
import { FleetDocuments } from "./documents.js";
import { Matrix } from "./matrix.js";
import { FleetModel, VERDICTS } from "./model.js";
import { FleetReader } from "./reader.js";
import { agentRow, changeText, targetRow } from "./rows.js";
import { focusLink, Table } from "./table.js";
import { TargetSection } from "./target.js";
import { FLEET_GLYPHS, fleetText, fleetWord, useLanguage } from "./words.js";

/** The shortest time between two drawings, in ms: events may come by thousands. */
const DRAW_INTERVAL = 100;
/** The rows of a table; the search finds the others. */
const ROW_LIMIT = 500;
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
      title: fleetText("verdict"), placeholder: fleetText("search"), count: "0", keepsURL: () => this.#target.id === null,
      onChange: () => this.#draw(),
    });
  #matrix = new Matrix(this.#model);
  #target;
  #targets = new Table("targets-title",
    [fleetText("verdict"), text("target"), fleetText("votes"), text("reason"), fleetText("since")]);
  #agents = new Table("agents-title", [text("state"), fleetText("agent"), fleetText("zone"), fleetText("reached"),
    fleetText("cells"), fleetText("outbox"), fleetText("since")]);
  #engineNote = h("p", { class: "banner", role: "status", hidden: true }, fleetText("engineAway"));
  #summary = h("p", { class: "muted" });
  #targetNote = h("p", { class: "muted small" });
  #noTargets = h("div", { class: "empty", hidden: true }, h("p", {}, fleetText("noTargets")), h("pre", { tabindex: "0" }, h("code", {},
    `curl -X PUT ${BASE}fleet/targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432"}'`)));
  #noAgents = h("p", { class: "empty muted", hidden: true }, fleetText("noAgents"));
  #changes = h("ol", { class: "events" });
  #noChanges = h("p", { class: "muted" }, fleetText("noChanges"));
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
      h("section", { "aria-labelledby": "targets-title" }, h("h1", { id: "targets-title" }, text("targets")), this.#summary,
        this.#filter.element, this.#target.element, this.#targets.element, this.#targetNote, this.#noTargets),
      this.#matrix.element,
      h("section", { "aria-labelledby": "agents-title" }, h("h2", { id: "agents-title" }, fleetText("agents")),
        this.#agents.element, this.#noAgents),
      h("section", { "aria-labelledby": "changes-title" }, h("h2", { id: "changes-title" }, fleetText("changes")),
        this.#noChanges, this.#changes));
  }

  // MARK: Data

  #receive(message) {
    if (message.kind === "status") {
      this.#frame.follow(message.status);
      this.#documents.isLive = this.#frame.isLive;
    } else if (message.kind === "all") {
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
    const { overview, targets, agents, timeline } = this.#model;
    this.#frame.renderStatus(overview !== null);
    if (overview === null) return;
    const states = [...agents.values()].map((agent) => agent.state);
    setText(this.#summary, `${fleetText("replica", { id: overview.replica })} · ${fleetText("summary", {
      present: states.filter((state) => state === "present").length, lost: states.filter((state) => state === "lost").length,
      replicas: overview.replicas.length, targets: targets.size,
    })}`);
    this.#engineNote.hidden = overview.engine.connected;
    this.#renderTargets();
    const sorted = this.#model.sortedAgents;
    this.#agents.show(sorted.slice(0, ROW_LIMIT).map(agentRow));
    this.#noAgents.hidden = sorted.length > 0;
    this.#matrix.element.hidden = sorted.length === 0;
    this.#matrix.render();
    this.#noChanges.hidden = timeline.length > 0;
    fill(this.#changes, timeline.map(({ type, data }) => h("li", { class: "event" },
      h("time", { datetime: data.time }, clock(Date.parse(data.time))), " ", changeText(type, data))));
    this.#renderTitle();
  }

  #renderTargets() {
    const { targets, counts } = this.#model;
    for (const verdict of VERDICTS) this.#filter.setCount(verdict, counts[verdict].toLocaleString("en"));
    const selected = this.#model.select(this.#filter.text, this.#filter.states);
    this.#targets.show(selected.slice(0, ROW_LIMIT).map(targetRow));
    const more = selected.length - ROW_LIMIT;
    setText(this.#targetNote,
      selected.length === 0 && targets.size > 0 ? text("noMatch") : more > 0 ? fleetText("more", { count: more }) : "");
    this.#noTargets.hidden = targets.size > 0;
  }

  #renderTitle() {
    const { targets, counts } = this.#model;
    const worst = targets.size > 0 ? this.#model.worst : "unknown";
    const words = VERDICTS.filter((verdict) => counts[verdict] > 0)
      .map((verdict) => `${counts[verdict]} ${fleetWord("verdicts", verdict)}`).join(", ");
    this.#frame.renderTitle(`${FLEET_GLYPHS[worst]} ${words || fleetText("fleet")} · reachd`, ICONS[worst] ?? worst);
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

  #route() {
    const route = readRoute(location.hash, VERDICTS);
    const old = this.#target.id;
    const hadFocus = this.#target.element.contains(document.activeElement);
    this.#target.show(route.id);
    if (route.id !== null) return;
    if (hadFocus) focusLink(this.#targets.body, targetRoute(old));
    this.#filter.read(route);
    this.#draw();
  }

  #close() { location.hash = this.#filter.route; }
}

const token = takeToken();
useStoredTheme();
const language = useStoredLanguage();
useLanguage(language);
new FleetPage(language, token).start();
