// The rows of the tables of a fleet, and its changes in words.

import { h } from "../common/dom.js";
import { clock } from "../common/format.js";
import { targetRoute } from "../common/route.js";
import { FLEET_GLYPHS, fleetText, fleetWord, reasonWord, verdictText } from "./words.js";

function glyphed(kind, value, list) {
  return h("td", { class: `state ${kind}` }, `${FLEET_GLYPHS[value] ?? ""} ${fleetWord(list, value)}`);
}

function time(value) { return h("td", { class: "muted" }, value ? clock(Date.parse(value)) : ""); }

function votedStates(votes) { return ["up", "down", "unreachable", "unknown", "paused"].filter((state) => votes[state] > 0); }

/** The votes: `✔3 ✖1 ?1`. */
export function votesText({ votes }) {
  return votedStates(votes).map((state) => `${FLEET_GLYPHS[state]}${votes[state]}`).join(" ") || "–";
}

/** The votes for screen readers: `up 3, down 1`. */
function votesLabel({ votes }) {
  return votedStates(votes).map((state) => `${fleetWord("verdicts", state)} ${votes[state]}`).join(", ");
}

function votesCell(value, label = null) {
  return h("td", { "data-label": label }, h("span", { "aria-hidden": "true" }, votesText(value)), h("span", { class: "visually-hidden" }, votesLabel(value)));
}

export function targetRow(target) {
  const reasons = [reasonWord(target.reason),
    target.downFrom.length > 0 ? fleetText("from", { agents: target.downFrom.join(", ") }) : ""].filter(Boolean).join(" ");
  return h("tr", { "data-id": target.id }, glyphed(target.verdict, target.verdict, "verdicts"),
    h("th", { scope: "row" }, h("a", { href: targetRoute(target.id) }, target.id), " ",
      h("span", { class: "url muted small" }, target.target)),
    votesCell(target), h("td", {}, reasons), time(target.since));
}

export function agentRow(agent) {
  // Narrow windows have no titles of columns.
  const labelled = (name) => ({ "data-label": fleetText(name) });
  const reached = agent.reached === null ? h("td", { class: "muted", ...labelled("reached") }, "–")
    : h("td", { class: `state ${agent.reached.verdict}`, ...labelled("reached") },
      verdictText(agent.reached.verdict), " ",
      h("span", { class: "muted", "aria-hidden": "true" }, votesText(agent.reached)));
  return h("tr", { "data-id": agent.id },
    glyphed(agent.state === "present" ? "up" : "unknown", agent.state, "agentStates"),
    h("th", { scope: "row" }, agent.id, " ", h("span", { class: "url muted small" }, agent.address ?? "")),
    h("td", labelled("zone"), agent.zone || "–"), reached, votesCell({ votes: agent.cells }, fleetText("cells")),
    h("td", labelled("outbox"), agent.outbox ?? "–"), time(agent.since));
}

export function changeText(type, data) {
  if (type === "verdict") {
    const glyph = h("span", { class: `state ${data.verdict}`, "aria-hidden": "true" }, `${FLEET_GLYPHS[data.verdict]} `);
    const old = data.old === null ? fleetText("new") : fleetWord("verdicts", data.old);
    return [glyph, fleetText("changeVerdict", { name: data.target, old, new: fleetWord("verdicts", data.verdict) }),
      data.downFrom.length > 0 ? ` ${fleetText("from", { agents: data.downFrom.join(", ") })}` : ""];
  }
  if (type === "agent") return [fleetText("changeAgent", { name: data.agent, state: fleetWord("agentStates", data.state) })];
  return [fleetText(data.definition === null ? "deleted" : "defined", { name: data.target })];
}
