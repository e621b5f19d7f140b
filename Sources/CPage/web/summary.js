// This machine's verdict, its paths and interfaces, and the timeline of events.

import { clock, duration, fill, h, setText } from "./dom.js";
import { GLYPHS, text, units, word } from "./words.js";

/** The state that colours a machine's status. */
function stateOf(status) {
  return status === "reachable" ? "up" : status === "notReachable" ? "unreachable" : "unknown";
}

/** A glyph and a word in the colour of a state. */
export function badge(state, label, hint = null) {
  return h("span", { class: `state ${state}`, title: hint },
    h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[state] || "?"), ` ${label}`);
}

/** Whether an interface can send: one that is enabled may have no carrier. */
function isUsable(item) {
  return item.isUp && item.operationalState !== "down" && item.operationalState !== "lowerLayerDown";
}

/** Up, without a carrier, or disabled by the administrator. */
function interfaceState(item) {
  return isUsable(item) ? text("up") : word("history", item.isUp ? "linkDown" : "adminDown");
}

export class Summary {
  #since = h("span", { class: "muted" });
  #machine = null;
  #shown = -1;
  element = h("section", { class: "summary", "aria-labelledby": "verdict" });

  render(model) {
    if (model.machineChanges === this.#shown) return;
    this.#shown = model.machineChanges;
    const machine = model.machine;
    this.#machine = machine;
    if (!machine) { fill(this.element); return; }
    const status = h("h1", { id: "verdict", class: `verdict state ${stateOf(machine.status)}` },
      h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[stateOf(machine.status)]),
      ` ${word("machine", machine.status)}`);
    const details = [word("connectionTypes", machine.connectionType), word("reasons", machine.reason)]
      .filter((item) => item !== "").join(", ");
    fill(this.element,
      h("div", { class: "verdict-line" }, status, h("span", { class: "detail" }, details), this.#since),
      h("dl", { class: "paths" }, ["ipv4", "ipv6"].flatMap((family) => this.#path(family, machine[family]))),
      h("ul", { class: "interfaces", "aria-label": text("interfaces") },
        [...model.interfaces.values()].map((item) => this.#interface(item, machine.status === "notReachable"))));
    this.tick();
  }

  /** Updates what depends on the time only. */
  tick() {
    if (!this.#machine?.since) { setText(this.#since, ""); return; }
    setText(this.#since, text("since", { duration: duration(Date.now() - Date.parse(this.#machine.since), units()) }));
  }

  #path(family, path) {
    const name = family === "ipv4" ? "IPv4" : "IPv6";
    const parts = path.status === "reachable"
      ? [path.interface, path.gateway ? text("via", { gateway: path.gateway }) : text("direct")]
      : [path.interface, word("reasons", path.reason)];
    return [h("dt", {}, name),
      h("dd", {}, badge(stateOf(path.status), word("machine", path.status)), " ",
        h("span", { class: "mono" }, parts.filter(Boolean).join(" ")))];
  }

  #interface(item, isWanted) {
    const isUp = isUsable(item);
    // A link that is down may be why this machine is not reachable, also one that was disabled.
    const colour = isUp ? "" : item.isUp || isWanted ? "state unreachable" : "muted";
    return h("li", { class: `interface ${colour}`, title: (item.addresses || []).join("\n") },
      h("span", { class: "mono" }, item.name), ` ${isUp ? "▲" : "▽"} `, h("span", { class: "small" }, interfaceState(item)));
  }
}

export class Timeline {
  #list = h("ol", { class: "events" });
  #empty = h("p", { class: "muted" });
  #rendered = [];
  element = h("aside", { class: "timeline", "aria-labelledby": "timeline-title", tabindex: "-1" },
    h("h2", { id: "timeline-title" }, text("timeline")), this.#empty, this.#list);

  /** Shows the newest events; elements of events that are shown already are kept. */
  render(model, limit = 100) {
    const items = model.timeline.slice(0, limit);
    if (items.length === this.#rendered.length && items[0] === this.#rendered[0]) return;
    const known = new Map(this.#rendered.map((item, index) => [item, this.#list.children[index]]));
    this.#rendered = items;
    this.#list.replaceChildren(...items.map((item) => known.get(item) || eventItem(item)));
    setText(this.#empty, items.length === 0 ? text("noEvents") : "");
    this.#empty.hidden = items.length > 0;
  }
}

/** One event as a list item: time, what changed, from and to, and why. */
export function eventItem({ time, type, data, isMissed }) {
  const when = h("time", { datetime: new Date(time).toISOString() }, clock(time));
  return h("li", { class: isMissed ? "event missed" : "event" }, when, " ", ...describe(type, data),
    causes(data));
}

function causes(data) {
  const list = (data.cause || []).filter((cause) => cause !== "check").map((cause) => word("causes", cause));
  return list.length === 0 ? null : h("span", { class: "cause muted" }, list.join(", "));
}

/** A transition as /history has it: without the path, the interface and the definition of the target. */
function describePast({ type, subject, from, to, reason, clean }) {
  const name = subject.slice(subject.indexOf(":") + 1);
  const label = from !== null && from !== to && to !== "removed" && type !== "service"
    ? text("from", { from: word("history", from), to: word("history", to) }) : word("history", to);
  if (type === "target") {
    return [badge(to === "removed" ? "paused" : to, label), " ", h("a", { href: `#/target/${encodeURIComponent(name)}` }, name),
      reason ? ` ${word("reasons", reason)}` : ""];
  }
  if (type === "status") return [badge(stateOf(to), label), " ", word("reasons", reason)];
  if (type === "path") return [text("pathChanged")];
  if (type === "interface") return [h("span", { class: "mono" }, name), ` ${label} `];
  return [label, clean === false ? ` (${text("unclean")})` : ""];
}

function describe(type, data) {
  if (data.subject !== undefined) return describePast(data);
  if (type === "target") {
    const state = data.removed ? "paused" : data.to;
    const name = h("a", { href: `#/target/${encodeURIComponent(data.target.id)}` }, data.target.id);
    if (data.removed) return [badge(state, text("removed")), " ", name];
    const change = data.from === data.to ? [badge(data.to, word("states", data.to))]
      : [badge(data.to, text("from", { from: word("states", data.from), to: word("states", data.to) }))];
    return [...change, " ", name, data.reason ? ` ${word("reasons", data.reason)}` : ""];
  }
  if (type === "status") {
    return [badge(stateOf(data.to.status), word("machine", data.to.status)), " ",
      word("reasons", data.status?.reason)];
  }
  if (type === "path") return ["ipv4", "ipv6"].flatMap((family) => pathChange(family, data));
  if (type === "interface") {
    const item = data.interface;
    const label = data.removed ? text("interfaceRemoved") : interfaceState(item);
    return [h("span", { class: "mono" }, item.name), ` ${label} `];
  }
  return [type];
}

function pathChange(family, data) {
  const [from, to] = [pathText(data.from?.[family]), pathText(data.to?.[family])];
  if (from === to) return [];
  return [h("span", {}, `${family === "ipv4" ? "IPv4" : "IPv6"}: ${text("from", { from, to })} `)];
}

function pathText(path) {
  if (!path) return "";
  if (path.status !== "reachable") return word("reasons", path.reason) || word("machine", path.status);
  return [path.interface, path.gateway].filter(Boolean).join(" ");
}
