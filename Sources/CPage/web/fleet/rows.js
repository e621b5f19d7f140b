// The rows of the tables of a fleet, and its changes in words.

import { h } from "../common/dom.js";
import { clock, fullTime, now, shortDuration } from "../common/format.js";
import { targetRoute } from "../common/route.js";
import { joined, units } from "../common/words.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, verdictText } from "./words.js";

/** The agents that a line names; the details of a target have all. */
const NAME_LIMIT = 3;
const NUMBER = new Intl.NumberFormat("en");

function glyphed(kind, value, list) {
  return h("td", { class: `state ${kind}` }, `${FLEET_GLYPHS[value] ?? ""} ${fleetWord(list, value)}`);
}

/** How long something has had its state. */
export function timeCell(value) {
  const time = value ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? h("td", {}) : h("td", { class: "muted for", title: fullTime(time) }, shortDuration(now() - time, units()));
}

/** The number of votes for each state, the most severe first: `✖ 10 down ✔ 1,190 up`. */
export function votesParts(votes) {
  const states = ["down", "unreachable", "unknown", "paused", "up"].filter((state) => votes[state] > 0);
  return states.length === 0 ? ["–"] : states.flatMap((state) => [
    h("span", { class: `state ${state} vote` }, h("span", { "aria-hidden": "true" }, `${FLEET_GLYPHS[state]} `),
      `${NUMBER.format(votes[state])} ${fleetWord("verdicts", state)}`), " "]);
}

/** Why a target has its verdict, the reason first: `connection refused · from 12 of 60 agents, 3 zones`. */
export function reasonText(problem) {
  if (problem === null) return "";
  const { reason, agents, of, zones } = problem;
  const from = agents === 0 ? "" : fleetText("fromAgents", { count: agents, of, zones: zones === 1 ? fleetText("zoneOne") : fleetText("zones", { count: zones }) });
  return [reasonWord(reason), from].filter(Boolean).join(" · ");
}

/** `problem` is that of the model. */
export function targetRow(target, problem) {
  const reason = reasonText(problem);
  return h("tr", { "data-id": target.id }, glyphed(target.verdict, target.verdict, "verdicts"),
    h("th", { scope: "row" }, h("a", { href: targetRoute(target.id) }, target.id), " ",
      h("span", { class: "url muted small" }, target.target)),
    timeCell(target.since), h("td", { class: "votes" }, votesParts(target.votes)), h("td", { class: "reason", title: reason || null }, reason));
}

export function agentRow(agent) {
  // Narrow windows have no titles of columns.
  const labelled = (name) => ({ "data-label": fleetText(name) });
  const reached = agent.reached === null ? h("td", { class: "muted", ...labelled("reached") }, "–")
    : h("td", { class: `state ${agent.reached.verdict}`, ...labelled("reached") }, verdictText(agent.reached.verdict), " ",
      h("span", { class: "muted" }, fleetText("countOf", { count: agent.reached.votes.up, of: agent.reached.votes.assigned })));
  return h("tr", { "data-id": agent.id },
    glyphed(agent.state === "present" ? "up" : "unknown", agent.state, "agentStates"),
    h("th", { scope: "row" }, agent.id, " ", h("span", { class: "url muted small" }, agent.address ?? "")),
    timeCell(agent.since), h("td", labelled("zone"), agent.zone || "–"), reached,
    h("td", { class: "votes", ...labelled("cells") }, votesParts(agent.cells)),
    h("td", labelled("outbox"), agent.outbox ?? "–"));
}

/** The first names of a list, and how many more there are. */
function names(list) {
  const more = list.length - NAME_LIMIT;
  return more <= 0 ? joined(list) : fleetText("namesAndMore", { names: joined(list.slice(0, NAME_LIMIT)), count: more });
}

function changeText(type, data) {
  if (type === "verdict") {
    const glyph = h("span", { class: `state ${data.verdict}`, "aria-hidden": "true" }, `${FLEET_GLYPHS[data.verdict]} `);
    const old = data.old === null ? fleetText("new") : fleetWord("verdicts", data.old);
    return [glyph, fleetText("changeVerdict", { name: data.target, old, new: fleetWord("verdicts", data.verdict) }),
      data.downFrom.length > 0 ? ` ${fleetText("from", { agents: names(data.downFrom) })}` : ""];
  }
  if (type === "agent") return [fleetText("changeAgent", { name: data.agent, state: fleetWord("agentStates", data.state) })];
  return [fleetText(data.definition === null ? "deleted" : "defined", { name: data.target })];
}

export function changeItem({ type, data }) {
  const time = Date.parse(data.time);
  return h("li", { class: "event" }, h("time", { datetime: data.time, title: fullTime(time) }, clock(time)), " ", changeText(type, data));
}
