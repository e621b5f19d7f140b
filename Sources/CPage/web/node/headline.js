// What the page says first: how many targets have a problem, and for how long.

import { duration, now } from "../common/format.js";
import { dotted, joined, text, units, word } from "../common/words.js";

const NUMBER = new Intl.NumberFormat("en");
const PROBLEMS = ["down", "unreachable", "unknown"];

/** The targets with a problem, without those behind another one: `{counts, behind, since}`; `since` of the longest, or null. */
export function problemsOf(targets) {
  const counts = { down: 0, unreachable: 0, unknown: 0 };
  let behind = 0;
  let since = null;
  for (const target of targets.values()) {
    if (!(target.state in counts)) continue;
    if (target.dependency && targets.has(target.dependency)) { behind += 1; continue; }
    counts[target.state] += 1;
    if (target.state !== "unknown" && (since === null || target.since < since)) since = target.since;
  }
  return { counts, behind, since };
}

/** The headline of a model: `{state, words, longest}`; `longest` is empty without an outage. */
export function headlineOf(model) {
  const status = model.machine?.status ?? "unknown";
  if (status !== "reachable") {
    // The targets follow from the machine, and are shown after it.
    return status === "notReachable" ? { state: "unreachable", words: text("machineNotReachable"), longest: problemsText(model) }
      : { state: "unknown", words: text("machineUnknown"), longest: "" };
  }
  if (!model.isLoaded) return { state: "unknown", words: text("loadingTargets"), longest: "" };
  const total = model.targets.size;
  if (total === 0) return { state: "up", words: text("machineReachable"), longest: "" };
  const { counts, since } = problemsOf(model.targets);
  const problems = problemsText(model);
  const closed = [...model.gates.values()].filter((gate) => gate.state === "closed").length;
  if (problems === "") {
    const { up, paused } = model.counts;
    const words = dotted([text(up === total && total > 1 ? "allUp" : "someUp", { count: NUMBER.format(up) }),
      paused > 0 && `${NUMBER.format(paused)} ${word("states", "paused")}`, closed > 0 && gatesText(closed)]);
    return { state: closed > 0 ? "pending" : up > 0 ? "up" : "unknown", words, longest: "" };
  }
  const state = PROBLEMS.find((each) => counts[each] > 0) ?? "unreachable";
  return {
    state, words: problems,
    longest: since === null ? "" : text("longest", { duration: duration(now() - since, units()) }),
  };
}

/** How many targets have a problem, of all; empty without one. */
function problemsText(model) {
  const { counts, behind } = problemsOf(model.targets);
  const parts = PROBLEMS.filter((state) => counts[state] > 0).map((state) => `${NUMBER.format(counts[state])} ${word("states", state)}`);
  if (behind > 0) parts.push(text("behindOthers", { count: NUMBER.format(behind) }));
  return parts.length === 0 ? "" : text("ofAll", { parts: joined(parts), total: NUMBER.format(model.targets.size) });
}

function gatesText(count) { return text(count === 1 ? "gateClosedOne" : "gatesClosed", { count }); }
