// This machine's verdict, its paths and interfaces, and the timeline of events.

import { clock, duration, fill, h, now, setText } from "./dom.js";
import { targetRoute } from "./preferences.js";
import { GLYPHS, joined, text, units, word } from "./words.js";

/** The interfaces that are shown without a click: a host of containers has hundreds. */
const INTERFACE_LIMIT = 8;

/** The state that colours a machine's status. */
function stateOf(status) {
  return status === "reachable" ? "up" : status === "notReachable" ? "unreachable" : "unknown";
}

/** A glyph and a word in the colour of a state. */
export function badge(state, label, hint = null, glyph = state) {
  return h("span", { class: `state ${state}`, title: hint },
    h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[glyph] || "?"), ` ${label}`);
}

/** Whether an interface can send: one that is enabled may have no carrier. */
function isUsable(item) {
  return item.isUp && item.operationalState !== "down" && item.operationalState !== "lowerLayerDown";
}

/** Up, without a carrier, or disabled by the administrator. */
function interfaceState(item) {
  return isUsable(item) ? text("up") : word("history", item.isUp ? "linkDown" : "adminDown");
}

/** The interfaces, those of the paths first, then those that are down. */
function sortedInterfaces(model) {
  const paths = ["ipv4", "ipv6"].map((family) => model.machine[family]?.interface);
  const rank = (item) => paths.includes(item.name) ? 0 : item.type === "loopback" ? 3 : isUsable(item) ? 2 : 1;
  return [...model.interfaces.values()].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
}

export class Summary {
  #since = h("span", { class: "muted" });
  #machine = null;
  #shown = -1;
  #isExpanded = false;
  element = h("section", { class: "summary", "aria-labelledby": "verdict" });

  render(model) {
    if (model.machineChanges === this.#shown) return;
    this.#shown = model.machineChanges;
    const machine = model.machine;
    this.#machine = machine;
    if (!machine) { fill(this.element); return; }
    const hasFocus = document.activeElement?.dataset.key === "more" && this.element.contains(document.activeElement);
    const hint = word("machineHints", machine.status);
    const status = h("h1", { id: "verdict", class: `verdict state ${stateOf(machine.status)}`, title: hint },
      h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[stateOf(machine.status)]),
      ` ${word("machine", machine.status)}`);
    const details = joined([word("connectionTypes", machine.connectionType), word("reasons", machine.reason)]);
    const items = sortedInterfaces(model);
    fill(this.element,
      h("div", { class: "verdict-line" }, status, h("span", { class: "detail" }, details), this.#since,
        machine.status === "reachable" ? null : h("p", { class: "explanation" }, hint, " ", this.#explanation(machine, items))),
      h("dl", { class: "paths" }, ["ipv4", "ipv6"].flatMap((family) => this.#path(family, machine[family], machine.status))),
      h("ul", { class: "interfaces", "aria-label": text("interfaces") },
        items.slice(0, this.#isExpanded ? items.length : INTERFACE_LIMIT)
          .map((item) => this.#interface(item, machine.status === "notReachable")),
        items.length <= INTERFACE_LIMIT ? null : h("li", {}, h("button", {
          type: "button", class: "more", "data-key": "more", "aria-expanded": this.#isExpanded ? "true" : "false",
          onclick: () => { this.#isExpanded = !this.#isExpanded; this.#shown = -1; this.render(model); },
        }, this.#isExpanded ? text("fewerInterfaces") : text("moreInterfaces", { count: items.length - INTERFACE_LIMIT })))));
    if (hasFocus) this.element.querySelector("[data-key=more]")?.focus();
    this.tick();
  }

  /** Why this machine has no path, as far as its links explain it. */
  #explanation(machine, items) {
    if (machine.status !== "notReachable") return "";
    const down = items.filter((item) => item.type !== "loopback" && !isUsable(item)).slice(0, INTERFACE_LIMIT)
      .map((item) => `${item.name} (${interfaceState(item)})`);
    if (down.length > 0) return text("links", { names: joined(down) });
    return machine.reason === "noRoute" ? text("noDefaultRoute") : "";
  }

  /** Updates what depends on the time only. */
  tick() {
    if (!this.#machine?.since) { setText(this.#since, ""); return; }
    setText(this.#since, text("since", { duration: duration(now() - Date.parse(this.#machine.since), units()) }));
  }

  #path(family, path, status) {
    const name = family === "ipv4" ? "IPv4" : "IPv6";
    const parts = path.status === "reachable"
      ? [path.interface, path.gateway ? text("via", { gateway: path.gateway }) : text("direct")]
      : [path.interface, word("reasons", path.reason)];
    // A family that is not used here is no alarm while the other one has a path.
    const state = status === "reachable" && path.status !== "reachable" ? "muted" : stateOf(path.status);
    return [h("dt", {}, name),
      h("dd", {}, badge(state, word("machine", path.status), null, stateOf(path.status)), " ",
        h("span", { class: "mono" }, parts.filter(Boolean).join(" ")))];
  }

  #interface(item, isWanted) {
    const isUp = isUsable(item);
    // A link that is down may be why this machine is not reachable, also one that was disabled.
    const colour = isUp ? "" : item.isUp || isWanted ? "state unreachable" : "muted";
    return h("li", { class: `interface ${colour}`, title: (item.addresses || []).join("\n") || null },
      h("span", { class: "mono" }, item.name), ` ${isUp ? "▲" : "▽"} `, h("span", { class: "small" }, interfaceState(item)));
  }
}

export class Timeline {
  #list = h("ol", { class: "events" });
  #empty = h("p", { class: "muted" });
  #rendered = [];
  #day = "";
  element = h("aside", { class: "timeline", "aria-labelledby": "timeline-title", tabindex: "-1" },
    h("h2", { id: "timeline-title" }, text("timeline")), this.#empty, this.#list);

  /** Shows the newest events; elements of events that are shown already are kept. */
  render(model, limit = 100) {
    const items = model.timeline.slice(0, limit);
    // Times of the day before get their date at midnight.
    const day = clock(now(), true, true);
    if (day !== this.#day) { this.#day = day; this.#rendered = []; }
    if (items.length === this.#rendered.length && items.every((item, index) => item === this.#rendered[index])) return;
    const known = new Map(this.#rendered.map((item, index) => [item, this.#list.children[index]]));
    this.#rendered = items;
    this.#list.replaceChildren(...items.map((item) => known.get(item) || eventItem(item)));
    setText(this.#empty, items.length === 0 && model.isLoaded ? text("noEvents") : "");
    this.#empty.hidden = items.length > 0;
  }
}

/** One event as a list item: time, subject, change; then why. */
function eventItem({ time, type, data, isMissed }) {
  const { state, subject, change, reason } = data.subject !== undefined ? describePast(data) : describe(type, data);
  const causes = (data.cause || []).filter((cause) => cause !== "check").map((cause) => word("causes", cause));
  const why = [reason, joined(causes)].filter(Boolean).join(" · ");
  return h("li", { class: isMissed ? "event missed" : "event" },
    h("time", { datetime: new Date(time).toISOString() }, clock(time)), " ",
    state ? h("span", { class: `state ${state} glyph`, "aria-hidden": "true" }, `${GLYPHS[state] ?? ""} `) : null,
    subject, subject ? " " : null, h("span", { class: state ? `state ${state}` : null }, change),
    why === "" ? null : h("span", { class: "cause muted" }, why));
}

function targetLink(id) { return h("a", { href: targetRoute(id) }, id); }

function interfaceName(name) { return h("span", { class: "mono" }, name); }

/** The change of a state; one that is only confirmed, or is the first, has no old state. */
function transition(list, from, to) {
  return from && from !== to ? text("from", { from: word(list, from), to: word(list, to) }) : word(list, to);
}

/** A transition as /history has it: without the path, the interface and the definition of the target. */
function describePast({ type, subject, from, to, reason, clean }) {
  const name = subject.slice(subject.indexOf(":") + 1);
  const change = to === "removed" ? text("removed") : transition("history", from, to);
  if (type === "target") return { state: to, subject: targetLink(name), change, reason: word("reasons", reason) };
  if (type === "status") return { state: stateOf(to), subject: text("thisMachine"), change, reason: word("reasons", reason) };
  if (type === "path") return { subject: text("thisMachine"), change: text("pathChanged") };
  if (type === "interface") return { subject: interfaceName(name), change };
  return { change: clean === false ? `${word("history", to)} (${text("unclean")})` : word("history", to) };
}

function describe(type, data) {
  if (type === "target") {
    return {
      state: data.removed ? "removed" : data.to, subject: targetLink(data.target.id),
      change: data.removed ? text("removed") : transition("states", data.from, data.to), reason: word("reasons", data.reason),
    };
  }
  if (type === "status") {
    return {
      state: stateOf(data.to.status), subject: text("thisMachine"),
      change: transition("history", data.from?.status, data.to.status), reason: word("reasons", data.status?.reason),
    };
  }
  if (type === "path") {
    const changes = ["ipv4", "ipv6"].map((family) => pathChange(family, data)).filter(Boolean);
    return { subject: text("thisMachine"), change: changes.length > 0 ? joined(changes) : text("pathChanged") };
  }
  if (type === "interface") {
    return {
      subject: interfaceName(data.interface.name),
      change: interfaceChange(data),
    };
  }
  return { change: type };
}

function interfaceChange(data) {
  if (!data.removed) return interfaceState(data.interface);
  return data.renamedTo ? text("interfaceRenamed", { name: data.renamedTo }) : text("interfaceRemoved");
}

function pathChange(family, data) {
  const [from, to] = [pathText(data.from?.[family]), pathText(data.to?.[family])];
  return from === to ? null : `${family === "ipv4" ? "IPv4" : "IPv6"} ${from ? text("from", { from, to }) : to}`;
}

function pathText(path) {
  if (!path) return "";
  if (path.status !== "reachable") return word("reasons", path.reason) || word("machine", path.status);
  return [path.interface, path.gateway].filter(Boolean).join(" ");
}
