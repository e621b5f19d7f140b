import assert from "node:assert/strict";
import test from "node:test";

import { Client } from "../../Sources/CPage/web/common/client.js";
import { ResumingStream, retryDelay } from "../../Sources/CPage/web/common/resuming.js";
import { Clock } from "./clock.mjs";
import { BASE, Service } from "./service.mjs";

/** A stream with a record of what its handler receives. */
function opened(context, { token = null, refusal = null } = {}) {
  const clock = new Clock().install(context);
  const service = new Service().install(context);
  service.refusal = refusal;
  const record = { statuses: [], events: [], signals: [] };
  const stream = new ResumingStream(new Client(BASE, token), "events", {
    onStatus: (status) => record.statuses.push(status),
    onOpen: (offset, signal) => { record.signals.push(signal); stream.goLive(offset); stream.settle(); },
    onEvents: (events, { isReplay }) => record.events.push(...events.map(({ data }) => [JSON.parse(data), isReplay])),
  });
  stream.start();
  return { clock, service, record, stream };
}

const states = (record) => record.statuses.map(({ state }) => state);

test("the stream resumes after its last event, and its first events are those that were missed", async (context) => {
  const { clock, service, record } = opened(context);
  await clock.advance(0);
  service.stream.send("a", 1, "e-1");
  service.stream.end();
  await clock.advance(0);
  assert.deepEqual(states(record), ["live", "disconnected"]);
  assert.equal(service.stream.headers["Last-Event-ID"], undefined);
  await clock.advance(1000);
  assert.equal(service.streams.length, 2);
  assert.equal(service.stream.headers["Last-Event-ID"], "e-1");
  service.stream.send("a", 2, "e-2");
  await clock.advance(3000);
  service.stream.send("a", 3, "e-3");
  await clock.advance(0);
  assert.deepEqual(record.events, [[1, false], [2, true], [3, false]]);
  assert.deepEqual(states(record), ["live", "disconnected", "live"]);
});

test("the stream resumes before an event of which it received a part", async (context) => {
  const { clock, service, record } = opened(context);
  await clock.advance(0);
  service.stream.send("a", 1, "e-1");
  for (const part of ["id: e-2\nevent: a\ndata: ", "id: e-2\n", ":\n"]) {
    service.stream.write(part);
    service.stream.end();
    await clock.advance(6000);
    assert.equal(service.stream.headers["Last-Event-ID"], "e-1", part);
  }
  service.stream.send("a", 2, "e-2");
  await clock.advance(0);
  assert.deepEqual(record.events.map(([data]) => data), [1, 2]);
});

test("the delays grow while the service refuses, and the disconnection keeps its beginning", async (context) => {
  const { clock, service, record } = opened(context, { refusal: { status: 503, detail: "busy" } });
  await clock.advance(30_000);
  const { length } = service.requests;
  assert.ok(length >= 7 && length <= 12, `${length} attempts in 30 s`);
  assert.ok(record.statuses.every(({ state, problem }) => state === "disconnected" && problem.detail === "busy"));
  assert.deepEqual(new Set(record.statuses.map(({ since }) => since)).size, 1);
  service.refusal = null;
  await clock.advance(6000);
  assert.equal(record.statuses.at(-1).state, "live");
});

test("a token that is refused ends the attempts", async (context) => {
  const { clock, service, record, stream } = opened(context, { token: "old", refusal: { status: 401 } });
  await clock.advance(60_000);
  assert.equal(service.requests.length, 1);
  assert.deepEqual(states(record), ["denied"]);
  assert.equal(clock.size, 0, "no timer is left");
  service.refusal = null;
  stream.retry();
  await clock.advance(0);
  assert.equal(record.statuses.at(-1).state, "live");
});

test("a silent stream is lost, one with heartbeats is not", async (context) => {
  const { clock, service, record } = opened(context);
  await clock.advance(0);
  for (let count = 0; count < 4; count += 1) {
    await clock.advance(15_000);
    service.stream.write(":\n");
  }
  await clock.advance(19_000);
  assert.deepEqual(states(record), ["live"]);
  await clock.advance(2500);
  const lost = record.statuses[1];
  assert.deepEqual([lost.state, lost.reason, lost.since], ["disconnected", "silent", 60_000]);
  assert.ok(record.signals[0].aborted, "requests of the attempt are cancelled");
});

test("a hidden page closes the stream, and a stopped one does not reconnect", async (context) => {
  const { clock, service, record, stream } = opened(context);
  await clock.advance(0);
  stream.stop();
  await clock.advance(60_000);
  assert.equal(service.requests.length, 1);
  assert.ok(!service.stream.isOpen);
  assert.equal(record.statuses.at(-1).reason, "hidden");
  stream.retry();
  stream.start();
  stream.start();
  await clock.advance(0);
  assert.equal(service.requests.length, 2);
});

test("a document that was not read ends the attempt, and an older attempt ends nothing", async (context) => {
  const { clock, service, record, stream } = opened(context);
  await clock.advance(0);
  stream.fail({ status: 503, detail: "busy" }, record.signals[0]);
  assert.deepEqual([record.statuses.at(-1).state, record.statuses.at(-1).problem.detail], ["disconnected", "busy"]);
  await clock.advance(1000);
  stream.fail({ status: 503 }, record.signals[0]);
  assert.equal(record.statuses.at(-1).state, "live");
  stream.fail({ status: 403, detail: "no" }, record.signals[1]);
  assert.equal(record.statuses.at(-1).state, "denied");
  assert.equal(service.requests.length, 2);
});

test("delays differ by a fifth, and stay below six seconds", () => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const delay = retryDelay(attempt);
    assert.ok(delay >= 400 && delay <= 6000, `${attempt}: ${delay}`);
  }
});
