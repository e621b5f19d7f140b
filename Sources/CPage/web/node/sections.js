// The parts of the panel of a target that follow from its documents alone.

import { h } from "../common/dom.js";
import { clock, duration, fullTime, latency, now, share } from "../common/format.js";
import { listRoute } from "../common/route.js";
import { dotted, joined, text, units, word } from "../common/words.js";
import { timeElement } from "./event.js";
import { adviceText, evidenceText } from "./evidence.js";
import { lastUp, outageCount } from "./outages.js";
import { badge } from "./states.js";
import { OUTAGE_LIMIT } from "./targetreader.js";

/** The states whose colours the verdicts of steps have. */
const STEP_STATES = { pass: "up", fail: "down", notReached: "unknown" };

/** The changes of the machine that are shown with an outage, the newest first. */
const CHANGE_LIMIT = 5;
/** Reasons that a link without a carrier causes, too. */
const ROUTE_REASONS = ["noRoute", "networkUnreachable"];

/** A number of seconds with its unit; intervals may be shorter than a second. */
function time(seconds) {
  return seconds < 1 ? latency(seconds * 1e6) : duration(seconds * 1000, units());
}

/** How the target is checked, from its document. */
export function interval({ module, intervalSeconds }) {
  return h("p", { class: "muted small" }, `${module} · ${text("interval", { time: time(intervalSeconds) })}`);
}

/** The labels, which select the targets that have them. */
export function labelList(labels) {
  const names = Object.keys(labels).sort();
  if (names.length === 0) return null;
  return h("ul", { class: "labels", "aria-label": text("labels") }, names.map((name, index) => {
    const label = `${name}=${labels[name]}`;
    // The search separates its words at spaces and commas.
    return h("li", {}, /[\s,]/.test(label) ? h("bdi", {}, label)
      : h("a", { href: listRoute(label), "data-key": `label-${index}` }, h("bdi", {}, label)));
  }));
}

/** The steps of the diagnosis; with a problem, the scope that it needs. */
export function diagnosisSection({ problem, steps, reason }) {
  if (problem && !problem.scope) return null;
  return h("section", {}, h("h3", {}, text("diagnosis")), problem
    ? h("p", { class: "muted" }, text("tokenNeeded", { scope: problem.scope }))
    : h("ol", { class: "steps" }, steps.map((step) => {
      const evidence = evidenceText(step.evidence, reason);
      // A route may be missing because no link is up.
      const advice = step.advice ? adviceText(step.advice, step.step === "link" && ROUTE_REASONS.includes(reason) ? "linkDown" : reason) : null;
      return h("li", { class: step.verdict },
        badge(STEP_STATES[step.verdict], word("steps", step.step)), " ",
        step.verdict === "notReached" ? h("span", { class: "muted" }, text("notReached"))
          : h("span", { class: "wrap", lang: evidence.lang }, evidence.text),
        advice ? h("p", { class: "advice wrap", lang: advice.lang }, advice.text) : null);
    })));
}

/** The result of a check in one line. */
export function checkLine(check) {
  return h("p", { role: "status", class: "check-result" }, badge(check.state, word("states", check.state)), " ",
    dotted([latency(check.durationSeconds * 1e6), check.state !== "up" && word("reasons", check.reason)]), " ",
    h("span", { class: "muted" }, clock(Date.parse(check.checkedAt))));
}

export function lastCheckSection(check) {
  const phases = Object.entries(check.phases || {});
  const total = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
  return h("section", {},
    h("h3", {}, text("lastCheck")),
    h("p", {}, badge(check.state, word("states", check.state)), ` ${latency(check.durationSeconds * 1e6)} `,
      h("span", { class: "muted", title: fullTime(Date.parse(check.checkedAt)) }, clock(Date.parse(check.checkedAt))),
      h("span", { class: "muted" }, check.address ? ` · ${check.address}` : "")),
    check.detail ? h("p", { class: "mono wrap", lang: "en" }, check.detail) : null,
    phases.length === 0 ? null : h("ul", { class: "phases" }, phases.map(([name, seconds]) =>
      h("li", {}, h("span", {}, word("phases", name)),
        h("meter", { min: 0, max: total || 1, value: seconds, "aria-label": word("phases", name) }),
        h("span", {}, latency(seconds * 1e6))))));
}

function availability(value) { return value === null ? text("noData") : share(Math.floor(value * 10000)); }

/** The availability and the outages of the window, then those of the calendar months. */
export function uptimeLine(uptime, months) {
  const count = outageCount(uptime);
  return [h("p", { title: text("uptimeHint") }, dotted([
    uptime.availability === null ? text("noData") : text("available", { share: availability(uptime.availability) }),
    text(count === 1 ? "outageOne" : "outages", { count }),
  ])), months ? h("p", { class: "muted small" },
    `${text("thisMonth")}${text("colon")}${availability(months.present)} · ${months.name}${text("colon")}${availability(months.last)}`) : null];
}

/** The outages: when, how long, why, and what changed in the machine in the minute before. */
export function outagesSection({ outages, history, state }) {
  const up = lastUp(history, state, now());
  const more = outages.length - OUTAGE_LIMIT;
  return h("section", {}, h("h3", {}, text("outagesTitle")),
    state === "up" || up === null ? null
      : h("p", {}, `${text("lastUp")}${text("colon")}`, timeElement(up), " ", h("span", { class: "muted" }, text("ago", { duration: duration(now() - up, units()) }))),
    outages.length === 0 ? h("p", { class: "muted" }, text("noOutages"))
      : h("ol", { class: "events outages" }, outages.slice(0, OUTAGE_LIMIT).map(outageItem)),
    more > 0 ? h("p", { class: "muted" }, text("moreInterfaces", { count: more })) : null);
}

/** A change of the machine: the state of an interface, or why its path changed. */
function machineChange({ subject, to, cause }) {
  return subject.startsWith("interface:") ? `${subject.slice("interface:".length)} ${word("history", to)}`
    : joined((cause ?? []).filter((each) => each !== "check").map((each) => word("causes", each)));
}

function outageItem({ start, end, reason, changes }) {
  const before = [...new Set(changes.map(machineChange).filter(Boolean))].slice(0, CHANGE_LIMIT);
  const length = duration((end ?? now()) - start, units());
  return h("li", { class: "event" }, timeElement(start), " ",
    h("strong", {}, end === null ? text("ongoing", { duration: length }) : length), " ", word("reasons", reason),
    before.length === 0 ? null : h("span", { class: "cause muted" }, `${text("minuteBefore")}${text("colon")}${dotted(before)}`));
}

export function historySection(history) {
  return h("section", {}, h("details", {}, h("summary", { "data-key": "history" }, text("history")),
    history.length === 0 ? h("p", { class: "muted" }, text("noEvents")) : h("ol", { class: "events" }, history.slice(0, 50).map((item) =>
      h("li", { class: "event" }, timeElement(Date.parse(item.time)), " ",
        badge(item.to, item.from === null ? word("history", item.to)
          : text("from", { from: word("history", item.from), to: word("history", item.to) })), " ",
        word("reasons", item.reason))))));
}
