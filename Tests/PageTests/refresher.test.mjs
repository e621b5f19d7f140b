import assert from "node:assert/strict";
import test from "node:test";

import { Refresher } from "../../Sources/CPage/web/fleet/refresher.js";
import { Clock } from "./clock.mjs";
import { later } from "./service.mjs";

/** A refresher with a record of what it reads, and of what it puts into the model. */
function refresher({ isPaused = false, withAll = true } = {}) {
  const clock = new Clock();
  const record = { clock, read: [], applied: [], answer: async () => {} };
  const reading = async (name) => {
    record.read.push(name);
    await record.answer(name);
    return () => record.applied.push(name);
  };
  record.refresher = new Refresher(reading, withAll ? () => reading("all") : null, clock);
  if (!isPaused) record.refresher.resume();
  record.take = () => record.read.splice(0);
  return record;
}

const names = (count, first = 0) => [...Array(count).keys()].map((number) => `t${first + number}`);

test("a document is read soon after its event, and once for many events", async () => {
  const { clock, refresher: it, take } = refresher();
  for (let count = 0; count < 100; count += 1) it.mark("db");
  await clock.advance(0);
  assert.deepEqual(take(), ["db"]);
  it.mark("db");
  await clock.advance(999);
  assert.deepEqual(take(), []);
  await clock.advance(1);
  assert.deepEqual(take(), ["db"]);
  await clock.advance(60_000);
  assert.deepEqual(take(), []);
  assert.equal(clock.size, 0, "without events there is no timer");
});

test("many changed documents are read as a list", async () => {
  const { clock, refresher: it, take } = refresher();
  names(8).forEach((id) => it.mark(id));
  await clock.advance(0);
  assert.deepEqual(take(), names(8));
  names(1000).forEach((id) => it.mark(id));
  await clock.advance(1000);
  assert.deepEqual(take(), ["all"]);
  await clock.advance(60_000);
  assert.deepEqual(take(), []);
});

test("the number of requests is bounded, however many events there are", async () => {
  const { clock, refresher: it, take } = refresher();
  for (let time = 0; time < 60_000; time += 100) {
    names(20, time).forEach((id) => it.mark(id));
    if (time % 1000 === 0) it.markAll();
    await clock.advance(100);
  }
  const read = take();
  assert.ok(read.filter((name) => name === "all").length <= 13, "a list each five seconds");
  assert.ok(read.length <= 13 + 48 * 8, `${read.length} requests in a minute`);
  it.mark("last");
  await clock.advance(10_000);
  assert.match(take().join(), /all|last/, "everything is read at the end");
});

test("an event during a reading causes another one", async () => {
  const record = refresher();
  const { clock, refresher: it, take } = record;
  const first = later();
  record.answer = () => first.promise;
  it.mark("db");
  await clock.advance(0);
  it.mark("db");
  await clock.advance(5000);
  assert.deepEqual(take(), ["db"], "one at a time");
  first.resolve();
  await clock.advance(1000);
  assert.deepEqual(take(), ["db"]);
  names(9).forEach((id) => it.mark(id));
  const all = later();
  record.answer = () => all.promise;
  await clock.advance(1000);
  it.mark("t3");
  all.resolve();
  await clock.advance(1000);
  assert.deepEqual(take(), ["all", "t3"]);
});

test("a failure that may pass is repeated, a refusal is not", async () => {
  const record = refresher();
  const { clock, refresher: it, take } = record;
  let status = 0;
  record.answer = async () => { throw { status }; };
  it.mark("db");
  it.markAll();
  await clock.advance(0);
  assert.deepEqual(take(), ["all"]);
  await clock.advance(5000);
  assert.deepEqual(take(), ["all"]);
  status = 404;
  await clock.advance(5000);
  it.mark("db");
  await clock.advance(60_000);
  assert.deepEqual(take(), ["all", "db"]);
  assert.deepEqual(record.applied, []);
  record.answer = async () => {};
  status = 503;
  it.mark("db");
  await clock.advance(1000);
  assert.deepEqual(record.applied, ["db"]);
});

test("while the page is disconnected nothing is read and nothing is forgotten", async () => {
  const { clock, refresher: it, take } = refresher({ isPaused: true });
  it.mark("db");
  await clock.advance(60_000);
  assert.deepEqual(take(), []);
  it.resume();
  it.mark("web");
  it.pause();
  await clock.advance(60_000);
  assert.deepEqual(take(), []);
  it.resume();
  it.resume();
  await clock.advance(0);
  assert.deepEqual(take(), ["db", "web"]);
});

test("what was read by other means is not read, and an answer from before is not used", async () => {
  const record = refresher();
  const { clock, refresher: it, take } = record;
  const old = later();
  record.answer = () => old.promise;
  it.mark("db");
  it.mark("web");
  await clock.advance(0);
  it.reset();
  old.resolve();
  await clock.advance(10_000);
  assert.deepEqual([take(), record.applied], [["db"], []]);
  it.mark("db");
  it.remove("db");
  await clock.advance(10_000);
  assert.deepEqual(take(), []);
});

test("a document that is removed while it is read stays removed", async () => {
  const clock = new Clock();
  const removals = [];
  const answer = later();
  const it = new Refresher(async () => { await answer.promise; return () => removals.push("one"); },
    async () => { await answer.promise; return (removed) => removals.push([...removed]); }, clock);
  it.resume();
  it.remove("before");
  it.markAll();
  await clock.advance(0);
  it.remove("db");
  answer.resolve();
  await clock.advance(0);
  assert.deepEqual(removals, [["db"]]);
  it.mark("db");
  it.mark("web");
  it.remove("db");
  await clock.advance(1000);
  assert.deepEqual(removals, [["db"], "one"]);
});

test("without a list, documents are read one by one", async () => {
  const { clock, refresher: it, take } = refresher({ withAll: false });
  names(20).forEach((id) => it.mark(id));
  await clock.advance(0);
  assert.deepEqual(take(), names(8));
  await clock.advance(2000);
  assert.deepEqual(take(), names(12, 8));
});
