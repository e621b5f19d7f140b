import assert from "node:assert/strict";
import test from "node:test";

import { Client } from "../../Sources/CPage/web/common/client.js";
import { Connection } from "../../Sources/CPage/web/node/connection.js";
import { TargetReader } from "../../Sources/CPage/web/node/targetreader.js";
import { Clock } from "./clock.mjs";
import { BASE, later, problem, Service } from "./service.mjs";

const PAST = "events?types=status,path,interface,target,gate";

function connected(context) {
  const clock = new Clock().install(context);
  const service = new Service().install(context);
  Object.assign(service.documents, { "targets/overview": { id: [] }, [PAST]: [{ type: "gap" }, { type: "status" }] });
  const messages = [];
  const connection = new Connection(BASE, null, (message) => messages.push(message));
  const take = () => messages.splice(0).map((message) => message.kind === "events"
    ? message.events.map(({ type, isMissed }) => `${type}${isMissed ? " missed" : ""}`).join()
    : message.kind === "status" ? message.status.state : message.kind);
  return { clock, service, connection, messages, take };
}

test("events of targets wait for the list, others do not", async (context) => {
  const { clock, service, connection, messages, take } = connected(context);
  const overview = later();
  service.documents["targets/overview"] = () => overview.promise;
  connection.start();
  await clock.advance(0);
  service.stream.send("snapshot", {});
  service.stream.send("target", {}, "e-1");
  service.stream.send("status", {}, "e-2");
  await clock.advance(0);
  assert.deepEqual(take(), ["live", "snapshot", "status"]);
  overview.resolve({ id: [] });
  await clock.advance(0);
  assert.deepEqual(messages.at(-1), { kind: "recent", events: [{ type: "status" }] });
  assert.deepEqual(take(), ["overview", "target", "recent"]);
});

test("events of gates wait for the gates, which a token may not read", async (context) => {
  const { clock, service, connection, messages, take } = connected(context);
  const gates = later();
  service.documents.gates = () => gates.promise;
  connection.start();
  await clock.advance(0);
  service.stream.send("gate", {}, "e-1");
  await clock.advance(0);
  assert.deepEqual(take(), ["live"]);
  gates.resolve({ gates: [{ id: "app" }] });
  await clock.advance(0);
  assert.deepEqual(messages[0].gates, [{ id: "app" }]);
  assert.deepEqual(take(), ["overview", "gate", "recent"]);
  service.documents.gates = () => problem({ status: 403 });
  service.stream.send("gap", {});
  await clock.advance(0);
  assert.deepEqual(messages.find(({ kind }) => kind === "overview").gates, []);
});

test("after a gap the list is read again", async (context) => {
  const { clock, service, connection, take } = connected(context);
  connection.start();
  await clock.advance(0);
  take();
  service.stream.send("gap", {});
  service.stream.send("snapshot", {}, "e-9");
  service.stream.send("target", {}, "e-10");
  await clock.advance(0);
  assert.deepEqual(take(), ["gap", "snapshot", "overview", "target", "recent"]);
});

test("a refused list is requested again, and a resumed stream requests none", async (context) => {
  const { clock, service, connection, take } = connected(context);
  service.documents["targets/overview"] = () => problem({ status: 503, detail: "busy" });
  connection.start();
  await clock.advance(0);
  assert.deepEqual(take(), ["live", "disconnected"]);
  service.documents["targets/overview"] = { id: [] };
  await clock.advance(1000);
  assert.deepEqual(take(), ["live", "overview", "recent"]);
  service.stream.send("target", {}, "e-1");
  service.stream.end();
  service.takeRequests();
  await clock.advance(1000);
  service.stream.send("target", {}, "e-2");
  service.stream.send("snapshot", {}, "e-2");
  await clock.advance(0);
  assert.deepEqual(service.takeRequests(), ["GET events"]);
  assert.deepEqual(take(), ["target", "disconnected", "live", "target missed", "snapshot"]);
});

test("a timeline that was refused is requested again", async (context) => {
  const { clock, service, connection, take } = connected(context);
  Object.assign(service.documents, { "targets/overview": { id: [], history: true }, "history?limit=500": () => problem({ status: 503 }) });
  connection.start();
  await clock.advance(4000);
  assert.deepEqual(take(), ["live", "overview"]);
  service.documents["history?limit=500"] = { history: [{ type: "service" }] };
  await clock.advance(2000);
  assert.deepEqual(take(), ["recent"]);
});

test("the documents of a target: what the service does not have is null", async (context) => {
  const service = new Service().install(context);
  const reader = new TargetReader(new Client(BASE, null));
  service.documents["targets/a%2Fb"] = { paused: true };
  assert.deepEqual(await reader.read("a/b", "1h", false),
    {
      document: { paused: true }, diagnosis: null, points: null, history: null, outages: null, uptime: null, bars: null, months: null,
      series: null,
    });
  Object.assign(service.documents, {
    "targets/db": { paused: false }, "targets/db/explain": () => problem({ status: 403, headers: { "WWW-Authenticate": 'scope="check"' } }),
    "targets/db/latency?step=1h&window=24h": { steps: [1] }, "targets/db/history?limit=200&order=desc": { history: [] },
    "targets/db/uptime?window=24h&step=30m": { availability: null, steps: [{ seconds: { up: 1, down: 2 } }, { seconds: {} }] },
  });
  const read = await reader.read("db", "24h", true);
  assert.equal(read.diagnosis.problem.scope, "check");
  assert.deepEqual([read.points, read.history, read.outages, read.bars, read.series], [[1], [], [], "d.", null]);
  assert.deepEqual([read.uptime.availability, read.months.present, read.months.last], [null, null, null]);
  assert.equal((await reader.read("gone", "1h", true)).problem.status, 404);
});

test("a response to an older reading is ignored", async (context) => {
  const service = new Service().install(context);
  const reader = new TargetReader(new Client(BASE, null));
  const first = later();
  service.documents["targets/one"] = () => first.promise;
  service.documents["targets/two"] = { paused: true };
  const reading = reader.read("one", "1h", false);
  assert.equal((await reader.read("two", "1h", false)).document.paused, true);
  first.resolve({});
  assert.equal(await reading, null);
});
