import assert from "node:assert/strict";
import test from "node:test";

import { Client } from "../../Sources/CPage/web/common/client.js";
import { FleetConnection } from "../../Sources/CPage/web/fleet/connection.js";
import { FleetModel } from "../../Sources/CPage/web/fleet/model.js";
import { FleetReader } from "../../Sources/CPage/web/fleet/reader.js";
import { Clock } from "./clock.mjs";
import { BASE, later, problem, Service } from "./service.mjs";

const TARGETS = "fleet/targets?limit=1000";
const CELLS = "fleet/matrix?limit=10000";

/** A connection to a replica with two pages of targets. */
function connected(context) {
  const clock = new Clock().install(context);
  const service = new Service().install(context);
  Object.assign(service.documents, {
    fleet: { replica: "r" }, "fleet/agents": { agents: [] }, [CELLS]: { cells: [], next: null },
    [TARGETS]: { targets: [{ id: "a b" }], next: "a b" }, [`${TARGETS}&cursor=a%20b`]: { targets: [{ id: "c" }], next: null },
  });
  const client = new Client(BASE, null);
  const messages = [];
  const connection = new FleetConnection(client, new FleetReader(client), (message) => messages.push(message));
  const take = () => messages.splice(0).map((message) => message.kind === "events"
    ? message.events.map(({ type }) => type).join() : message.kind === "status" ? message.status.state : message.kind);
  return { clock, service, connection, messages, take };
}

test("events wait for the documents, all pages of them", async (context) => {
  const { clock, service, connection, messages, take } = connected(context);
  const agents = later();
  service.documents["fleet/agents"] = () => agents.promise;
  connection.start();
  await clock.advance(0);
  service.stream.send("snapshot", {}, "e-1");
  service.stream.send("cell", {}, "e-2");
  service.stream.write("event: cell\ndata: no JSON\n\n");
  await clock.advance(0);
  assert.deepEqual(take(), []);
  agents.resolve({ agents: [] });
  await clock.advance(0);
  assert.deepEqual(messages[0].targets.map(({ id }) => id), ["a b", "c"]);
  assert.deepEqual(take(), ["lists", "all", "live", "snapshot,cell"]);
});

test("the targets do not wait for the cells of a large fleet", async (context) => {
  const { clock, service, connection, take } = connected(context);
  const cells = later();
  service.documents[CELLS] = () => cells.promise;
  connection.start();
  await clock.advance(0);
  service.stream.send("cell", {}, "e-1");
  await clock.advance(0);
  assert.deepEqual(take(), ["lists"]);
  cells.resolve({ cells: [], next: null });
  await clock.advance(0);
  assert.deepEqual(take(), ["all", "live", "cell"]);
});

test("a stream that is resumed reads no document again", async (context) => {
  const { clock, service, connection, take } = connected(context);
  connection.start();
  await clock.advance(0);
  service.stream.send("cell", {}, "e-2");
  service.stream.end();
  await clock.advance(0);
  take();
  service.takeRequests();
  await clock.advance(1000);
  service.stream.send("verdict", {}, "e-3");
  service.stream.send("gap", { agent: "a", after: 1, before: 3 }, "e-4");
  await clock.advance(0);
  assert.deepEqual(service.takeRequests(), ["GET fleet/events"]);
  assert.deepEqual(take(), ["live", "verdict", "gap"]);
});

test("after a gap of the stream the documents are read once, and an older reading is not used", async (context) => {
  const { clock, service, connection, messages, take } = connected(context);
  const first = later();
  service.documents.fleet = () => first.promise;
  connection.start();
  await clock.advance(0);
  service.stream.send("cell", {}, "e-1");
  await clock.advance(0);
  service.documents.fleet = { replica: "later" };
  service.stream.send("gap", { from: "e-0", reason: "tooOld" });
  service.stream.send("snapshot", {}, "e-9");
  await clock.advance(0);
  assert.equal(messages[0].overview.replica, "later");
  assert.deepEqual(take(), ["lists", "all", "live", "snapshot"]);
  first.resolve({ replica: "first" });
  await clock.advance(10_000);
  assert.deepEqual(take(), []);
  assert.equal(service.takeRequests().filter((request) => request === "GET fleet").length, 2);
});

test("a refused document is read again with a delay, a refused token ends the attempts", async (context) => {
  const { clock, service, connection, take } = connected(context);
  service.documents[CELLS] = () => problem({ status: 503, detail: "busy" });
  connection.start();
  await clock.advance(20_000);
  const { length } = service.streams;
  assert.ok(length >= 4 && length <= 12, `${length} attempts in 20 s`);
  service.documents[CELLS] = () => problem({ status: 401 });
  await clock.advance(60_000);
  assert.equal(take().at(-1), "denied");
  assert.equal(service.streams.length, length + 1);
});

test("the verdicts are counted, selected by words, and the worst come first", () => {
  const model = new FleetModel();
  const target = (id, verdict, labels = {}) => ({ id, target: `tcp://${id}:1`, verdict, labels });
  model.setTargets([target("b", "up"), target("a", "up", { env: "prod" }), target("z", "down"), target("y", "partial")]);
  const select = (words, ...verdicts) => model.select(words, new Set(verdicts)).map(({ id }) => id);
  assert.deepEqual(select(""), ["z", "y", "a", "b"]);
  assert.deepEqual([select("env=prod"), select("PROD"), select("tcp z"), select("", "up"), select("z", "up")],
    [["a"], ["a"], ["z"], ["a", "b"], []]);
  assert.deepEqual([model.counts.up, model.counts.down], [2, 1]);
  assert.deepEqual([select("prod"), select("=prod"), select("env="), select("other=")], [["a"], ["a"], ["a"], []]);
});

test("a definition that changes its labels is found by the new ones", () => {
  const model = new FleetModel();
  model.setTargets([{ id: "a", target: "tcp://a:1", verdict: "up", labels: { env: "prod" } }]);
  assert.equal(model.select("prod", new Set()).length, 1);
  model.apply("definition", { target: "a", definition: { target: "tcp://a:1", labels: { env: "test" } } });
  assert.deepEqual([model.select("prod", new Set()).length, model.select("test", new Set()).length], [0, 1]);
});

test("a problem has its reason, and the numbers of agents and zones", () => {
  const model = new FleetModel();
  model.setAgents(["a", "b", "c", "d"].map((id, index) => ({ id, zone: `z${index % 2}` })));
  const target = (verdict, votes, more = {}) => ({ id: "db", verdict, reason: null, votes: { assigned: 4, ...votes }, downFrom: [], ...more });
  const cell = (agent, state, reason) => ({ target: "db", agent, state, reason, since: null });
  model.setCells([cell("a", "down", "refused"), cell("c", "down", "refused"), cell("b", "down", "slow"), cell("d", "up", null)]);
  assert.deepEqual(model.problem(target("partial", { down: 3 })), { reason: "refused", agents: 3, of: 4, zones: 2 });
  assert.deepEqual(model.problem(target("down", { down: 3 }, { reason: "httpStatus" })).reason, "httpStatus");
  assert.equal(model.problem(target("up", { up: 4 })), null);
  model.setCells([]);
  assert.deepEqual(model.problem(target("down", { down: 20 }, { downFrom: ["a", "c"] })), { reason: null, agents: 20, of: 4, zones: 1 });
});

test("agents with trouble come first", () => {
  const model = new FleetModel();
  const agent = (id, more) => ({ id, zone: "z", state: "present", reached: null, cells: {}, ...more });
  model.setAgents([agent("well"), agent("failing", { cells: { down: 3 } }), agent("worse", { cells: { down: 9 } }),
    agent("cut", { reached: { verdict: "down" } }), agent("partly", { reached: { verdict: "partial" } }), agent("silent", { state: "lost" })]);
  assert.deepEqual(model.sortedAgents.map(({ id }) => id), ["silent", "cut", "partly", "worse", "failing", "well"]);
});

test("a cell of the matrix is that of an agent, or the worst of a zone", () => {
  const model = new FleetModel();
  model.setAgents([{ id: "a", zone: "x" }, { id: "b", zone: "x" }, { id: "c", zone: "" }]);
  model.setTargets([{ id: "db", verdict: "down", target: "", labels: {} }]);
  const cell = (target, agent, state) => ({ target, agent, state, reason: null, since: null });
  model.setCells([cell("db", "a", "up"), cell("db", "b", "down"), cell("mesh.a", "b", "up")]);
  const states = ({ rows }) => rows.map((row) => row.cells.map((each) => each && `${each.state} ${each.count}/${each.of}`));
  const limits = { columnLimit: 64, rowLimit: 200 };
  assert.deepEqual(model.matrix(false, false, limits).columns.map(({ label }) => label), ["c", "a", "b"]);
  assert.deepEqual(states(model.matrix(false, false, limits)), [[null, "up 1/1", "down 1/1"]]);
  assert.deepEqual(states(model.matrix(false, true, limits)), [[null, "down 1/2"]]);
  assert.deepEqual(states(model.matrix(true, false, limits))[1], [null, null, "up 1/1"]);
  const limited = model.matrix(true, false, { columnLimit: 2, rowLimit: 1 });
  assert.deepEqual([limited.columns.length, limited.hiddenColumns, limited.rows.length, limited.hiddenRows], [2, 1, 1, 2]);
});

test("a lost agent has no vote, one that has left has no cell, and paused cells stay", () => {
  const model = new FleetModel();
  model.setAgents([{ id: "a", zone: "", state: "present" }]);
  const cell = (target, state) => ({ target, agent: "a", state, reason: null, since: null });
  model.setCells([cell("db", "up"), cell("off", "paused")]);
  model.apply("agent", { agent: "a", state: "lost", time: "t" });
  assert.deepEqual(["db", "off"].map((id) => model.cells.get(id).get("a").state), ["unknown", "paused"]);
  model.apply("agent", { agent: "a", state: "left", time: "t" });
  assert.equal(model.cells.size, 0);
  assert.deepEqual(model.timeline.map(({ data }) => data.state), ["left", "lost"]);
});
