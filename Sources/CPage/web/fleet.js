// The page of a replica: targets with their verdicts, agents, and the matrix.

import { clock, fill, forgetColours, h, setAttribute, setText } from "./dom.js";
import { FleetConnection } from "./fleetconnection.js";
import { Matrix } from "./fleetmatrix.js";
import { FleetModel, VERDICTS } from "./fleetmodel.js";
import { agentRow, changeText, targetRow, votesText } from "./fleetrows.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, useLanguage } from "./fleetwords.js";
import { headerButtons, listRoute, readRoute, takeToken, targetRoute, useStoredLanguage, useStoredTheme } from "./preferences.js";
import { Banner, reloadAfterUpgrade } from "./notices.js";
import { text } from "./words.js";

/** The shortest time between two drawings and two readings of a document, in ms: events may come by thousands. */
const DRAW_INTERVAL = 100;
const READ_INTERVAL = 1000;
/** The interval of announcements to screen readers, in ms. */
const ANNOUNCE_INTERVAL = 5000;
/** The rows of a table; the search finds the others. */
const ROW_LIMIT = 500;
/** How often an agent that has returned is read until its cells are votes again. */
const BASE_ATTEMPTS = 20;

const BASE = new URL(".", location.href).href;
const APP = document.getElementById("app");

/** Calls `body` now, and then at most once an interval, however often the returned function is called. */
function throttled(interval, body) {
  let timer = null;
  let isWanted = false;
  const run = () => {
    timer = null;
    if (!isWanted) return;
    isWanted = false;
    timer = setTimeout(run, interval);
    body();
  };
  return () => {
    isWanted = true;
    if (timer === null) run();
  };
}

/** Moves the keyboard to the link of a row. */
function focusLink(body, href) {
  [...body.querySelectorAll("a")].find((each) => each.getAttribute("href") === href)?.focus({ preventScroll: true });
}

/** Replaces the rows of a table without taking the keyboard away from a link in them. */
function fillRows(body, rows) {
  const link = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  fill(body, rows);
  if (link !== null) focusLink(body, link);
}

class FleetPage {
  #model = new FleetModel();
  #connection;
  /** The state of the connection. */
  #state = "connecting";
  #matrix;
  #parts = {};
  #verdicts = new Set();
  #opened = null;
  /** The results of a check of the open target, which stay when its votes change. */
  #results = null;
  #changed = 0;
  #announcedAt = 0;
  #draw = throttled(DRAW_INTERVAL, () => this.#render());
  #readTargets = throttled(READ_INTERVAL, () => this.#read(async () => {
    this.#model.setTargets(await this.#connection.targets());
  }));
  #readAgents = throttled(READ_INTERVAL, () => this.#read(async () => {
    this.#model.setAgents((await this.#connection.request("GET", "fleet/agents")).agents);
    this.#model.overview = await this.#connection.request("GET", "fleet");
  }));
  #readOpened = throttled(READ_INTERVAL, () => this.#showTarget(this.#opened));

  start() {
    const token = takeToken();
    useStoredTheme();
    const language = useStoredLanguage();
    useLanguage(language);
    this.#connection = new FleetConnection(BASE, token, (message) => this.#receive(message));
    this.#matrix = new Matrix(this.#model);
    this.#build(language);
    this.#connection.start();
    setInterval(() => this.#tick(), 1000);
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => this.#key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#recolour());
    this.#route();
  }

  // MARK: Data

  #receive(message) {
    if (message.kind === "status") {
      const { state } = this.#connection.status;
      if (state === "live" && this.#state === "disconnected") reloadAfterUpgrade(BASE, APP.dataset.build);
      this.#state = state;
    } else if (message.kind === "all") {
      this.#model.overview = message.overview;
      this.#model.setAgents(message.agents);
      this.#model.setTargets(message.targets);
      this.#model.setCells(message.cells);
    } else if (message.kind === "events") {
      for (const { type, data } of message.events) this.#apply(type, data);
    }
    this.#draw();
  }

  #apply(type, data) {
    const reads = this.#model.apply(type, data);
    if (type === "verdict") this.#changed += 1;
    if (reads.targets) this.#readTargets();
    if (reads.agents) this.#readAgents();
    // An agent that returns publishes all its cells, without an event for each.
    if (reads.agent) this.#readCells(reads.agent, BASE_ATTEMPTS);
    if (type === "gap" && data.agent !== undefined) this.#readCells(data.agent, BASE_ATTEMPTS);
    if (this.#opened !== null && data.target === this.#opened) this.#readOpened();
  }

  /** Reads something again, until it succeeds or is refused; the connection reports its own failures. */
  async #read(body) {
    try {
      await body();
      this.#draw();
    } catch ({ status }) {
      // No event may follow. A request without a status was cancelled, for example by a change of the network.
      const isRefused = status >= 400 && status < 500 && status !== 429;
      if (!isRefused && this.#state === "live") setTimeout(() => this.#read(body), READ_INTERVAL);
    }
  }

  async #readCells(id, attempts) {
    await this.#read(async () => {
      const agent = await this.#connection.request("GET", `fleet/agents/${encodeURIComponent(id)}`);
      this.#model.agents.set(id, agent);
      this.#model.setCells(await this.#connection.cells(id), id);
      if (agent.awaitingBase && attempts > 0) setTimeout(() => this.#readCells(id, attempts - 1), READ_INTERVAL);
    });
  }

  // MARK: Elements

  #build(language) {
    const parts = this.#parts;
    parts.access = h("dialog", { class: "dialog" });
    parts.help = h("dialog", { class: "dialog" }, h("h2", {}, text("keys")),
      h("ul", { class: "keys" }, fleetText("keyHelp").split(" · ").map((line) => h("li", {}, line))),
      h("button", { type: "button", onclick: () => parts.help.close() }, text("close")));
    parts.connection = h("p", { class: "connection", role: "status" });
    const header = h("header", {}, h("strong", { class: "name" }, "reachd"),
      h("span", { class: "host" }, `${fleetText("fleet")} · ${location.host}`), parts.connection,
      h("div", { class: "buttons" },
        headerButtons(language, { recolour: () => this.#recolour(), help: parts.help, access: parts.access })));
    parts.banner = new Banner(parts.access);
    parts.engine = h("p", { class: "banner", role: "status", hidden: true }, fleetText("engineAway"));
    parts.summary = h("p", { class: "muted" });
    parts.chips = h("div", { class: "chips", role: "group", "aria-label": fleetText("verdict") }, VERDICTS.map((verdict) =>
      h("button", { type: "button", class: `chip ${verdict}`, "data-verdict": verdict, "aria-pressed": "false",
        onclick: () => this.#toggle(verdict) }, h("span", { class: "glyph", "aria-hidden": "true" }, FLEET_GLYPHS[verdict]),
      " ", h("span", { class: "count" }, "0"), h("span", { class: "label" }, ` ${fleetWord("verdicts", verdict)}`))));
    parts.search = h("input", { type: "search", placeholder: fleetText("search"), "aria-label": fleetText("search"),
      autocomplete: "off", spellcheck: "false", oninput: () => { this.#setRoute(); this.#draw(); } });
    parts.targets = this.#table("targets-title", [fleetText("verdict"), text("target"), fleetText("votes"), text("reason"), fleetText("since")]);
    parts.agents = this.#table("agents-title", [text("state"), fleetText("agent"), fleetText("zone"), fleetText("reached"),
      fleetText("cells"), fleetText("outbox"), fleetText("since")]);
    parts.targetNote = h("p", { class: "muted small" });
    parts.noTargets = h("div", { class: "empty", hidden: true }, h("p", {}, fleetText("noTargets")), h("pre", { tabindex: "0" }, h("code", {},
      `curl -X PUT ${BASE}fleet/targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432"}'`)));
    parts.noAgents = h("p", { class: "empty muted", hidden: true }, fleetText("noAgents"));
    parts.changes = h("ol", { class: "events" });
    parts.noChanges = h("p", { class: "muted" }, fleetText("noChanges"));
    parts.detail = h("section", { class: "fleet-detail", hidden: true, tabindex: "-1" });
    parts.live = h("div", { class: "visually-hidden", "aria-live": "polite" });
    parts.main = h("main", { class: "fleet" },
      h("section", { "aria-labelledby": "targets-title" }, h("h1", { id: "targets-title" }, text("targets")), parts.summary,
        h("div", { class: "tools" }, parts.search, parts.chips), parts.detail, parts.targets.frame, parts.targetNote, parts.noTargets),
      this.#matrix.element,
      h("section", { "aria-labelledby": "agents-title" }, h("h2", { id: "agents-title" }, fleetText("agents")),
        parts.agents.frame, parts.noAgents),
      h("section", { "aria-labelledby": "changes-title" }, h("h2", { id: "changes-title" }, fleetText("changes")),
        parts.noChanges, parts.changes));
    fill(APP, header, parts.banner.element, parts.engine, parts.main, parts.access, parts.help, parts.live);
  }

  #table(title, columns) {
    const body = h("tbody");
    // A table that is wider than the page scrolls in its frame, also by the keyboard.
    const frame = h("div", { class: "table-frame", tabindex: "0", role: "group", "aria-labelledby": title },
      h("table", { class: "stacked" }, h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))), body));
    return { frame, body };
  }

  // MARK: Drawing

  #render() {
    const { overview, targets, agents, counts } = this.#model;
    const parts = this.#parts;
    this.#renderStatus();
    if (overview === null) return;
    const states = [...agents.values()].map((agent) => agent.state);
    setText(parts.summary, `${fleetText("replica", { id: overview.replica })} · ${fleetText("summary", {
      present: states.filter((state) => state === "present").length, lost: states.filter((state) => state === "lost").length,
      replicas: overview.replicas.length, targets: targets.size,
    })}`);
    parts.engine.hidden = overview.engine.connected;
    for (const chip of parts.chips.children) {
      setText(chip.querySelector(".count"), counts[chip.dataset.verdict].toLocaleString("en"));
      setAttribute(chip, "aria-pressed", this.#verdicts.has(chip.dataset.verdict) ? "true" : "false");
    }
    const selected = this.#model.select(parts.search.value, this.#verdicts);
    fillRows(parts.targets.body, selected.slice(0, ROW_LIMIT).map((target) => targetRow(target)));
    const more = selected.length - ROW_LIMIT;
    setText(parts.targetNote, selected.length === 0 && targets.size > 0 ? text("noMatch") : more > 0 ? fleetText("more", { count: more }) : "");
    parts.noTargets.hidden = targets.size > 0;
    parts.targets.frame.hidden = selected.length === 0;
    const sorted = this.#model.sortedAgents;
    fill(parts.agents.body, sorted.slice(0, ROW_LIMIT).map((agent) => agentRow(agent)));
    parts.agents.frame.hidden = sorted.length === 0;
    parts.noAgents.hidden = sorted.length > 0;
    this.#matrix.element.hidden = sorted.length === 0;
    this.#matrix.render();
    parts.noChanges.hidden = this.#model.timeline.length > 0;
    fill(parts.changes, this.#model.timeline.map(({ type, data }) => h("li", { class: "event" },
      h("time", { datetime: data.time }, clock(Date.parse(data.time))), " ", changeText(type, data))));
    const worst = targets.size > 0 ? this.#model.worst : "unknown";
    const title = `${FLEET_GLYPHS[worst]} ${VERDICTS.filter((verdict) => counts[verdict] > 0)
      .map((verdict) => `${counts[verdict]} ${fleetWord("verdicts", verdict)}`).join(", ") || fleetText("fleet")} · reachd`;
    if (document.title !== title) document.title = title;
    const icon = { partial: "pending", paused: "unknown" }[worst] ?? worst;
    setAttribute(document.getElementById("icon"), "href", `page/${APP.dataset.build}/state-${icon}.svg`);
  }

  #renderStatus() {
    const { connection, banner } = this.#parts;
    const { status } = this.#connection;
    const isLive = status.state === "live";
    document.documentElement.classList.toggle("outdated", !isLive && this.#model.overview !== null);
    setText(connection, isLive ? `● ${text("live")}` : status.state === "connecting" ? "…" : `○ ${text("notLive")}`);
    setAttribute(connection, "class", `connection ${status.state}`);
    banner.render(status, { hasData: this.#model.overview !== null, retry: () => this.#connection.start() });
  }

  #tick() {
    if (this.#connection.status.state !== "live") this.#renderStatus();
    if (this.#changed === 0 || Date.now() - this.#announcedAt < ANNOUNCE_INTERVAL) return;
    setText(this.#parts.live, fleetText("announce", { count: this.#changed }));
    this.#changed = 0;
    this.#announcedAt = Date.now();
  }

  // MARK: One target

  #route() {
    const { id, search, states } = readRoute(VERDICTS);
    const { detail, targets } = this.#parts;
    const old = this.#opened;
    const hadFocus = detail.contains(document.activeElement);
    this.#opened = id;
    detail.hidden = id === null;
    if (id !== null) {
      this.#results = h("div", { class: "results" });
      this.#showTarget(id).then(() => detail.focus());
      return;
    }
    if (hadFocus) focusLink(targets.body, targetRoute(old));
    this.#parts.search.value = search;
    this.#verdicts = states;
    this.#draw();
  }

  /** The fragment of the list with the present search and verdicts. */
  get #listRoute() { return listRoute(this.#parts.search.value, this.#verdicts); }

  /** Keeps the search in the URL; beside an open target, until it is closed. */
  #setRoute() {
    if (this.#opened === null) history.replaceState(null, "", this.#listRoute);
  }

  #close() { location.hash = this.#listRoute; }

  async #showTarget(id) {
    if (id === null) return;
    const { detail } = this.#parts;
    const close = h("button", { type: "button", class: "close", "data-key": "close", onclick: () => this.#close() }, text("close"));
    let target;
    try {
      target = await this.#connection.request("GET", `fleet/targets/${encodeURIComponent(id)}`);
    } catch (error) {
      fill(detail, h("h2", {}, id, close), h("p", { class: "problem" }, text("error", { detail: error.detail ?? String(error) })));
      return;
    }
    if (this.#opened !== id) return;
    const vantage = ({ agent, zone, state, reason, since }) => h("tr", {},
      h("td", { class: `state ${state}` }, `${FLEET_GLYPHS[state]} ${fleetWord("verdicts", state)}`), h("th", { scope: "row" }, agent),
      h("td", { "data-label": fleetText("zone") }, zone || "–"), h("td", {}, reasonWord(reason)), h("td", { class: "muted" }, since ? clock(Date.parse(since)) : ""));
    const results = this.#results;
    const key = detail.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    fill(detail, h("h2", {}, h("span", { class: `state ${target.verdict}` }, FLEET_GLYPHS[target.verdict]), ` ${id} `, close),
      h("p", { class: "wrap" }, target.target),
      h("p", {}, `${fleetWord("verdicts", target.verdict)} ${reasonWord(target.reason)} · ${votesText(target)}`),
      h("p", { class: "muted small" }, fleetText("needed", target.needed)),
      h("h3", {}, fleetText("vantages")), h("div", { class: "table-frame", tabindex: "0", role: "group", "aria-label": fleetText("vantages") },
        h("table", { class: "stacked" }, h("thead", {}, h("tr", {}, [text("state"), fleetText("agent"), fleetText("zone"), text("reason"),
          fleetText("since")].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, target.vantages.map(vantage)))),
      h("div", { class: "actions" }, h("button", { type: "button", "data-key": "check", onclick: () => this.#check(id, results) }, fleetText("checkNow"))), results);
    // The new elements replace the one that had the keyboard.
    if (key) detail.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
  }

  async #check(id, element) {
    fill(element, h("p", { class: "muted", role: "status" }, fleetText("checking")));
    try {
      const { results } = await this.#connection.request("POST", "fleet/checks", { target: id });
      fill(element, h("ul", { role: "status" }, results.map(({ agent, state, reason }) => h("li", {},
        h("span", { class: `state ${state}` }, `${FLEET_GLYPHS[state]} ${fleetWord("verdicts", state)}`), ` ${agent} `,
        h("span", { class: "muted" }, reasonWord(reason))))));
    } catch (error) {
      fill(element, h("p", { class: "problem", role: "alert" }, text("error", { detail: error.detail ?? String(error) })));
    }
  }

  #toggle(verdict) {
    if (!this.#verdicts.delete(verdict)) this.#verdicts.add(verdict);
    this.#setRoute();
    this.#render();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "Escape" && isTyping) event.target.blur();
    else if (event.key === "Escape" && this.#opened !== null) this.#close();
    else if (isTyping || document.querySelector("dialog[open]")) return;
    else if (event.key === "/") this.#parts.search.focus();
    else if (event.key === "?") this.#parts.help.showModal();
    else return;
    event.preventDefault();
  }

  #recolour() {
    forgetColours();
    this.#matrix.recolour();
  }
}

new FleetPage().start();
