// The parts of the panel of a target that follow from its documents alone.

import { h } from "../common/dom.js";
import { clock, duration, latency, share } from "../common/format.js";
import { listRoute } from "../common/route.js";
import { joined, text, units, word } from "../common/words.js";
import { badge } from "./states.js";

/** The states whose colours the verdicts of steps have. */
const STEP_STATES = { pass: "up", fail: "down", notReached: "unknown" };

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
export function diagnosisSection({ problem, steps }) {
  if (problem && !problem.scope) return null;
  return h("section", {}, h("h3", {}, text("diagnosis")), problem
    ? h("p", { class: "muted" }, text("tokenNeeded", { scope: problem.scope }))
    : h("ol", { class: "steps" }, steps.map((step) => h("li", { class: step.verdict },
      badge(STEP_STATES[step.verdict], word("steps", step.step)), " ",
      // The service writes English.
      step.verdict === "notReached" ? h("span", { class: "muted" }, text("notReached"))
        : h("span", { class: "wrap", lang: "en" }, step.evidence || ""),
      step.advice ? h("p", { class: "advice wrap", lang: "en" }, step.advice) : null))));
}

export function lastCheckSection(check) {
  const phases = Object.entries(check.phases || {});
  const total = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
  return h("section", {},
    h("h3", {}, text("lastCheck")),
    h("p", {}, badge(check.state, word("states", check.state)), ` ${latency(check.durationSeconds * 1e6)} `,
      h("span", { class: "muted" }, clock(Date.parse(check.checkedAt)), check.address ? ` · ${check.address}` : "")),
    check.detail ? h("p", { class: "mono wrap", lang: "en" }, check.detail) : null,
    phases.length === 0 ? null : h("ul", { class: "phases" }, phases.map(([name, seconds]) =>
      h("li", {}, h("span", {}, word("phases", name)),
        h("meter", { min: 0, max: total || 1, value: seconds, "aria-label": word("phases", name) }),
        h("span", { class: "mono" }, latency(seconds * 1e6))))));
}

export function uptimeLine({ availability, outages }) {
  const count = Array.isArray(outages) ? outages.length : outages;
  return h("p", { title: text("uptimeHint") }, joined([
    availability === null ? text("noData") : text("available", { share: share(Math.floor(availability * 10000)) }),
    typeof count === "number" ? text(count === 1 ? "outageOne" : "outages", { count }) : null,
  ]));
}

export function historySection(history) {
  return h("section", {}, h("h3", {}, text("history")), h("ol", { class: "events" }, history.map((item) =>
    h("li", { class: "event" }, h("time", { datetime: item.time }, clock(Date.parse(item.time))), " ",
      badge(item.to, item.from === null ? word("history", item.to)
        : text("from", { from: word("history", item.from), to: word("history", item.to) })), " ",
      word("reasons", item.reason)))));
}
