// What the page of a fleet says first.

import { duration, now } from "../common/format.js";
import { dotted, joined, text, units } from "../common/words.js";
import { fleetText, fleetWord } from "./words.js";

/** The verdicts that are a problem, the worst first. */
export const PROBLEMS = ["down", "partial", "unreachable", "unknown"];
const NUMBER = new Intl.NumberFormat("en");

/** `{state, words, longest}`; `longest` is empty without an outage. */
export function fleetHeadline(model) {
  const { counts, targets } = model;
  const lost = [...model.agents.values()].filter(({ state }) => state !== "present").length;
  if (targets.size === 0) return { state: "unknown", words: fleetText("noTargetsYet"), longest: "" };
  const parts = PROBLEMS.filter((verdict) => counts[verdict] > 0).map((verdict) => `${NUMBER.format(counts[verdict])} ${fleetWord("verdicts", verdict)}`);
  const silent = lost > 0 ? fleetText(lost === 1 ? "silentOne" : "silent", { count: lost }) : "";
  if (parts.length === 0) {
    const { up, paused } = counts;
    const state = lost > 0 ? "partial" : up > 0 ? "up" : "unknown";
    return { state, longest: "", words: dotted([text(up === targets.size && up > 1 ? "allUp" : "someUp", { count: NUMBER.format(up) }),
      paused > 0 && `${paused} ${fleetWord("verdicts", "paused")}`, silent]) };
  }
  const since = Math.min(...[...targets.values()].filter(({ verdict }) => verdict === "down" || verdict === "partial" || verdict === "unreachable")
    .map((target) => Date.parse(target.since)));
  return {
    state: PROBLEMS.find((verdict) => counts[verdict] > 0),
    words: dotted([text("ofAll", { parts: joined(parts), total: NUMBER.format(targets.size) }), silent]),
    longest: Number.isFinite(since) ? text("longest", { duration: duration(now() - since, units()) }) : "",
  };
}
