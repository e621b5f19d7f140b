// One event of the timeline in words.

import { h } from "../common/dom.js";
import { clock, fullTime } from "../common/format.js";
import { targetRoute } from "../common/route.js";
import { GLYPHS, joined, text, word } from "../common/words.js";
import { targetOf } from "./bursts.js";
import { interfaceState, machineState } from "./states.js";

/** The targets that a burst names; its line has their number. */
const BURST_NAMES = 20;

/** A time of day with its date and zone as its hint. */
export function timeElement(time) { return h("time", { datetime: new Date(time).toISOString(), title: fullTime(time) }, clock(time)); }

/** One event as a list item: time, subject, change; then why. */
export function eventItem({ time, type, data, isMissed }) {
  const { state, subject, change, reason } = data.subject !== undefined ? describePast(data) : describe(type, data);
  const causes = (data.cause || []).filter((cause) => cause !== "check").map((cause) => word("causes", cause));
  const why = [reason, joined(causes)].filter(Boolean).join(" · ");
  return h("li", { class: isMissed ? "event missed" : "event" },
    timeElement(time), " ",
    state ? h("span", { class: `state ${state} glyph`, "aria-hidden": "true" }, `${GLYPHS[state] ?? ""} `) : null,
    subject, subject ? " " : null, h("span", { class: state ? `state ${state}` : null }, change),
    why === "" ? null : h("span", { class: "cause muted" }, why));
}

/** Many events of one kind as a list item: how many targets, and their names when it is opened. */
export function burstItem(items) {
  const { state, change, reason } = items[0].data.subject !== undefined ? describePast(items[0].data) : describe("target", items[0].data);
  const more = items.length - BURST_NAMES;
  return h("li", { class: items.some(({ isMissed }) => isMissed) ? "event missed" : "event" },
    timeElement(items[0].time), " ",
    h("details", {}, h("summary", {}, h("span", { class: `state ${state} glyph`, "aria-hidden": "true" }, `${GLYPHS[state] ?? ""} `),
      text("burst", { count: items.length }), " ", h("span", { class: `state ${state}` }, change)),
    h("p", { class: "small wrap" }, items.slice(0, BURST_NAMES).flatMap((item) => [targetLink(targetOf(item)), " "]),
      more > 0 ? text("moreInterfaces", { count: more }) : null)),
    reason ? h("span", { class: "cause muted" }, reason) : null);
}

function targetLink(id) { return h("a", { href: targetRoute(id) }, id); }

function gateName(id) { return text("gateName", { id }); }

/** The colour of a gate's state. */
function gateState(state) { return state === "open" ? "up" : state === "closed" ? "down" : "removed"; }

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
  if (type === "status") return { state: machineState(to), subject: text("thisMachine"), change, reason: word("reasons", reason) };
  if (type === "path") return { subject: text("thisMachine"), change: text("pathChanged") };
  if (type === "interface") return { subject: interfaceName(name), change };
  if (type === "gate") return { state: gateState(to), subject: gateName(name), change, reason: word("gateReasons", reason) };
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
      state: machineState(data.to.status), subject: text("thisMachine"),
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
  if (type === "gate") {
    return {
      state: gateState(data.to), subject: gateName(data.gate.id), change: transition("history", data.from, data.to ?? "removed"),
      reason: word("gateReasons", data.reason),
    };
  }
  return { change: type };
}

function interfaceChange(data) {
  if (!data.removed) return interfaceState(data.interface);
  return data.renamedTo ? text("interfaceRenamed", { name: data.renamedTo }) : text("removed");
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
