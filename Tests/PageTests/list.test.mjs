import assert from "node:assert/strict";
import test from "node:test";

import { completions, labelsOf, makeSearch } from "../../Sources/CPage/web/common/search.js";
import { selectLanguage } from "../../Sources/CPage/web/common/words.js";
import { arrange } from "../../Sources/CPage/web/node/arrange.js";
import { now } from "../../Sources/CPage/web/common/format.js";
import { headlineOf } from "../../Sources/CPage/web/node/headline.js";
import { Model, STATES } from "../../Sources/CPage/web/node/model.js";

/** A model with targets, given as `{id: state}` or with more members. */
function modelOf(targets) {
  const model = new Model();
  model.setMachine({ status: "reachable" });
  const all = Object.entries(targets).map(([id, value]) => (typeof value === "string" ? { id, state: value } : { id, ...value }));
  model.setOverview({
    states: STATES, reasons: [null], labels: all.map(({ labels }) => labels ?? {}), id: all.map(({ id }) => id),
    target: all.map(({ id }) => `tcp://${id}:1`), state: all.map(({ state }) => STATES.indexOf(state)), reason: all.map(() => 0),
    label: [...all.keys()], since: all.map(({ age = 60 }) => now() - age * 1000), flags: all.map(() => 0),
    latency: all.map(() => null), dependencies: all.map(({ dependency = null }) => dependency), dependency: [...all.keys()],
  }, "ab-1");
  return model;
}

function lines(model, options = {}) {
  return arrange(model.select(() => true), { states: STATES, ...options }).map((line) => line.kind === "group"
    ? `${line.isFolded ? "+" : "-"}${line.value}:${line.size}` : `${" ".repeat(line.level)}${line.id}${line.behind > 0 ? ` <${line.behind}` : ""}`);
}

test("targets behind another one are folded, and follow it when they are opened", () => {
  const model = modelOf({
    router: "down", a: { state: "unreachable", dependency: "router" }, b: { state: "unreachable", dependency: "router" }, c: "unreachable", d: "up",
  });
  assert.deepEqual(lines(model), ["router <2", "c", "d"]);
  assert.deepEqual(lines(model, { opened: new Set(["router", "d"]) }), ["router <2", " a", " b", "c", "d"]);
  // Without its root, which the filter has left out, a target is as others.
  assert.deepEqual(arrange(model.select(({ state }) => state === "unreachable"), { states: STATES }).map(({ id }) => id), ["a", "b", "c"]);
});

test("without dependencies every target has a line, and a wrong one changes nothing", () => {
  assert.deepEqual(lines(modelOf({ a: "down", b: "up" })), ["a", "b"]);
  assert.deepEqual(lines(modelOf({ a: { state: "down", dependency: "a" }, b: { state: "up", dependency: "gone" } })), ["a", "b"]);
});

test("an event moves a target behind another one, and away from it", () => {
  const model = modelOf({ router: "down", a: "up" });
  const event = (dependency, state) => model.apply("target", {
    id: null, time: "2026-01-01T00:00:00Z", removed: false,
    target: { id: "a", target: "tcp://a:1", state, labels: {}, since: "2026-01-01T00:00:00Z", pending: false, flapping: false, dependency },
  });
  event("router", "unreachable");
  assert.deepEqual(lines(model), ["router <1"]);
  event(null, "up");
  assert.deepEqual(lines(model), ["router", "a"]);
});

test("groups come in the order of their worst targets, those without the label last", () => {
  const label = (env, state) => ({ state, labels: env === null ? {} : { env } });
  const model = modelOf({ a: label("prod", "up"), b: label("test", "down"), c: label(null, "up"), d: label("prod", "up"), e: label("dev", "up") });
  assert.deepEqual(lines(model, { group: "env" }), ["-test:1", "b", "-dev:1", "e", "-prod:2", "a", "d", "-:1", "c"]);
  assert.deepEqual(lines(model, { group: "env", folded: new Set(["prod", ""]) }), ["-test:1", "b", "-dev:1", "e", "+prod:2", "+:1"]);
  const [group] = arrange(model.select(() => true), { states: STATES, group: "env" });
  assert.deepEqual(group.counts, { down: 1, unreachable: 0, unknown: 0, up: 0, paused: 0 });
});

test("the headline is green only when all is well", () => {
  selectLanguage("en");
  const of = (targets, change = () => {}) => {
    const model = modelOf(targets);
    change(model);
    const { state, words, longest } = headlineOf(model);
    return `${state}: ${words} ${longest}`.trim().replaceAll("\u00a0", " ");
  };
  assert.equal(of({ a: "up", b: "up" }), "up: All 2 up");
  assert.equal(of({ a: "up", b: "paused" }), "up: 1 up · 1 paused");
  assert.equal(of({ a: "up", b: { state: "down", age: 187_200 }, c: "unreachable" }), "down: 1 down, 1 unreachable of 3 longest 2 d 4 h");
  assert.equal(of({ a: "up", b: "unknown" }), "unknown: 1 unknown of 2");
  assert.equal(of({ a: "paused" }), "unknown: 0 up · 1 paused");
  assert.equal(of({ a: "up" }, (model) => model.setGates([{ id: "app", state: "closed" }])), "pending: 1 up · 1 gate closed");
  assert.equal(of({ a: "up", b: "down" }, (model) => model.setMachine({ status: "notReachable" })), "unreachable: This machine is not reachable 1 down of 2");
  assert.equal(of({}), "up: This machine is reachable");
  assert.equal(of({ r: "down", a: { state: "unreachable", dependency: "r" }, b: { state: "unreachable", dependency: "r" } }),
    "down: 1 down, 2 behind them of 3 longest 1 min");
});

test("a label is found by its name, its value and both, also with a slash", () => {
  const item = (labels, target = "https://web.example/a?b=c") => ({ id: "x", target, labels });
  const matches = (text, labels, target) => makeSearch(text)(item(labels, target));
  const labels = { "app.kubernetes.io/name": "web", env: "prod" };
  for (const text of ["app.kubernetes.io/name=web", "app.kubernetes.io/name=", "APP.kubernetes.io/NAME=Web", "env=prod app.kubernetes.io/name=web",
    "prod", "kubernetes", "io/name=w", "https://web.example/a?b=c", "example/a?b=c"]) {
    assert.equal(matches(text, labels), !text.endsWith("=w"), text);
  }
  for (const text of ["app.kubernetes.io/name=api", "env=", "env=prod"]) assert.equal(matches(text, { "app.kubernetes.io/name": "web" }), false, text);
});

test("a search is completed with names, then values, and values alone", () => {
  const labels = labelsOf([{ labels: { env: "prod", zone: "eu" } }, { labels: { env: "test" } }, { labels: { note: "two words" } }]);
  assert.deepEqual([...labels], [["env", ["prod", "test"]], ["note", ["two words"]], ["zone", ["eu"]]]);
  assert.deepEqual(completions("e", labels), ["env=", "zone=eu"]);
  assert.deepEqual(completions("env=", labels), ["env=prod", "env=test"]);
  assert.deepEqual(completions("web pr", labels), ["web env=prod"]);
  assert.deepEqual([completions("", labels), completions("env=prod", labels), completions("note=", labels)], [[], [], []]);
});
