import assert from "node:assert/strict";
import test from "node:test";

import { selectLanguage } from "../../Sources/CPage/web/common/words.js";
import { Changes } from "../../Sources/CPage/web/node/changes.js";
import { applyMessage } from "../../Sources/CPage/web/node/connection.js";
import { makeFilter } from "../../Sources/CPage/web/node/filter.js";
import { Model, STATES, TIMELINE_LIMIT } from "../../Sources/CPage/web/node/model.js";
import { seeded } from "./service.mjs";

const all = () => true;
const ids = (targets) => targets.map(({ id }) => id);
const columns = {
  states: ["up", "down"], reasons: [null, "refused"], labels: [{ env: "prod" }, { "a.b/c": "x" }], history: true,
  id: ["db", "web"], target: ["tcp://10.9.0.1:5432", "https://web/"], state: [1, 0], reason: [1, 0], label: [0, 1],
  since: [2000, 1000], flags: [3, 0], latency: [null, 410],
};

/** An event of a target. */
function event(id, state, details = {}) {
  return {
    id: null, time: "2026-01-01T00:00:00Z", removed: false,
    target: { id, target: "tcp://a:1", state, labels: {}, since: new Date(1000).toISOString(), pending: false, flapping: false },
    ...details,
  };
}

function loaded() {
  const model = new Model();
  model.setOverview(columns, "ab-10");
  return model;
}

test("the columns of the overview are targets", () => {
  const model = loaded();
  const { target, state, reason, labels, since, isPending, isFlapping, latency, uptime24, series } = model.targets.get("db");
  assert.deepEqual([target, state, reason, labels, since, isPending, isFlapping, latency, uptime24, series],
    ["tcp://10.9.0.1:5432", "down", "refused", { env: "prod" }, 2000, true, true, null, null, null]);
  assert.deepEqual(model.counts, { down: 1, unreachable: 0, unknown: 0, up: 1, paused: 0 });
  assert.deepEqual(ids(model.select(all)), ["db", "web"]);
});

test("an event that the list includes is not applied again", () => {
  const model = loaded();
  assert.equal(model.apply("target", event("db", "up", { id: "ab-10" })), false);
  assert.equal(model.targets.get("db").state, "down");
  assert.equal(model.apply("target", event("db", "up", { id: "ab-11" })), true);
  assert.equal(model.apply("target", event("web", "down", { id: "cd-1" })), true, "another epoch has other numbers");
  assert.deepEqual(ids(model.select(all)), ["web", "db"]);
});

test("a removed target is gone, a new one is there", () => {
  const model = loaded();
  model.takeChanges();
  model.apply("target", event("db", "down", { removed: true }));
  model.apply("target", event("new", "unknown", { durationSeconds: 0.25 }));
  assert.deepEqual(ids(model.select(all)), ["new", "web"]);
  assert.equal(model.targets.get("new").latency, 250_000);
  assert.deepEqual(model.takeChanges(), { ids: new Set(["db", "new"]), mustRebuild: true });
  assert.deepEqual(model.takeChanges(), { ids: new Set(), mustRebuild: false });
});

test("the series stay when the list is read again", () => {
  const model = loaded();
  model.setSeries({ ...columns, uptime24: [9981, 10_000], spark: ["MM", ".."] }, 5);
  model.setOverview(columns, "ab-12");
  assert.equal(model.targets.get("db").series.uptime24, 9981);
  assert.equal(model.targets.get("web").series.spark, "..");
});

test("the order after random changes is that of a list that is sorted as a whole", () => {
  const model = new Model();
  const random = seeded();
  for (let round = 0; round < 300; round += 1) {
    for (let count = random(20); count >= 0; count -= 1) {
      const details = event(`t${random(100)}`, STATES[random(STATES.length)], { removed: random(5) === 0 });
      details.target.since = new Date(random(1000)).toISOString();
      model.apply("target", details);
    }
    const copy = new Model();
    copy.load(structuredClone(model.dump()));
    assert.deepEqual(ids(model.select(all)), ids(copy.select(all)), `round ${round}`);
    const counts = Object.fromEntries(STATES.map((state) =>
      [state, [...model.targets.values()].filter((target) => target.state === state).length]));
    assert.deepEqual(model.counts, counts);
  }
  assert.ok(model.targets.size > 50);
});

test("the timeline has the newest events once, and a limit", () => {
  const model = new Model();
  for (let number = 1; number <= 3 * TIMELINE_LIMIT; number += 1) {
    model.apply("target", event("db", "up", { id: `ab-${number}`, time: new Date(number * 1000).toISOString() }));
  }
  assert.ok(model.timeline.length <= 2 * TIMELINE_LIMIT);
  model.setTimeline([
    { id: `ab-${3 * TIMELINE_LIMIT}`, type: "target", time: new Date(3 * TIMELINE_LIMIT * 1000).toISOString() },
    { type: "service", subject: "service:reachd", time: new Date(10_000_000).toISOString() },
  ]);
  assert.equal(model.timeline.length, TIMELINE_LIMIT);
  assert.equal(model.timeline[0].type, "service");
  assert.equal(model.timeline[1].id, `ab-${3 * TIMELINE_LIMIT}`);
  assert.equal(new Set(model.timeline.map((item) => item.id)).size, TIMELINE_LIMIT);
});

test("events of one millisecond are the newest first, also after the timeline was read again", () => {
  const model = new Model();
  const past = [1, 2, 3, 10].map((number) => ({ id: `ab-${number}`, type: "target", time: "2026-01-01T00:00:00.000Z" }));
  model.setTimeline(past);
  assert.deepEqual(model.timeline.map(({ id }) => id), ["ab-10", "ab-3", "ab-2", "ab-1"]);
});

test("gates follow their events", () => {
  const model = new Model();
  model.setGates([{ id: "app", state: "closed" }, { id: "old", state: "open" }]);
  const gate = (id, state, removed = false) => ({ id: null, time: "2026-01-01T00:00:00Z", gate: { id, state }, removed });
  model.apply("gate", gate("app", "open"));
  model.apply("gate", gate("new", "closed"));
  model.apply("gate", gate("old", "open", true));
  assert.deepEqual([...model.gates.values()].map(({ id, state }) => `${id} ${state}`), ["app open", "new closed"]);
  const copy = new Model();
  copy.load(structuredClone(model.dump()));
  assert.equal(copy.gates.size, 2);
});

test("interfaces and the status of the machine follow events", () => {
  const model = new Model();
  model.apply("snapshot", { status: "reachable", interfaces: [{ name: "lo" }, { name: "eth0" }] });
  model.apply("interface", { id: "ab-1", time: "2026-01-01T00:00:00Z", interface: { name: "eth0" }, removed: true });
  model.apply("status", { id: "ab-2", time: "2026-01-01T00:00:01Z", status: { status: "notReachable", reason: "noRoute" } });
  assert.deepEqual([...model.interfaces.keys()], ["lo"]);
  assert.deepEqual([model.machine.status, model.machine.reason], ["notReachable", "noRoute"]);
  assert.equal(model.machineChanges, 3);
});

test("words select by id, URL, reason and label", () => {
  const model = loaded();
  const select = (words, ...states) => ids(model.select(makeFilter(words, new Set(states))));
  assert.deepEqual(select(""), ["db", "web"]);
  assert.deepEqual([select("5432"), select("REFUSED"), select("db 10.9"), select("db web")], [["db"], ["db"], ["db"], []]);
  assert.deepEqual([select("env=prod"), select("env="), select("env=test"), select("ENV=Prod,db")], [["db"], ["db"], [], ["db"]]);
  assert.deepEqual([select("connection ref"), select("prod"), select("a.b/c=x"), select("a.b/c=y"), select("https://web/")],
    [["db"], ["db"], ["web"], [], ["web"]]);
  assert.deepEqual([select("", "up"), select("db", "up"), select("", "up", "down")], [["web"], [], ["db", "web"]]);
});

test("a message with an event that is no JSON does not lose the others", () => {
  const model = new Model();
  const events = applyMessage(model, { kind: "events", events: [
    { type: "target", text: "{", isMissed: true },
    { type: "target", text: JSON.stringify(event("db", "up", { id: "ab-1" })), isMissed: true },
  ] });
  assert.deepEqual(events.map(({ data, isMissed }) => [data.target.id, isMissed]), [["db", true]]);
});

test("announcements name one target, the number of several, and the machine first", () => {
  selectLanguage("en");
  const model = loaded();
  const changes = new Changes();
  assert.equal(changes.take(model), "");
  const target = (id) => ({ type: "target", data: event(id, "up") });
  changes.note([target("db"), target("db")]);
  assert.equal(changes.take(model), "db is down");
  changes.note([target("db"), target("web"), { type: "status", data: {} }]);
  model.setMachine({ status: "notReachable" });
  assert.equal(changes.take(model), "This machine: Not reachable. 2 targets changed");
  changes.note([{ type: "target", data: event("db", "up", { removed: true }) }]);
  assert.equal(changes.take(model), "");
});
