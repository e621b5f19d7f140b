import assert from "node:assert/strict";
import test from "node:test";

import { FleetDocuments, staleAfter } from "../../Sources/CPage/web/fleet/documents.js";
import { FleetModel } from "../../Sources/CPage/web/fleet/model.js";
import { Clock } from "./clock.mjs";
import { Replica } from "./replica.mjs";
import { seeded } from "./service.mjs";

/** A page that follows a replica. */
async function following(agents, targets) {
  const clock = new Clock();
  const replica = new Replica(agents, targets);
  const model = new FleetModel();
  const page = { clock, replica, model, changes: 0 };
  page.documents = new FleetDocuments(model, replica, () => { page.changes += 1; }, clock);
  page.documents.load({
    overview: await replica.overview(), agents: await replica.agents(), targets: await replica.targets(),
    cells: await replica.cells(null),
  });
  page.documents.isLive = true;
  replica.onEvent = (type, data) => page.documents.apply(type, data);
  page.takeRequests = () => replica.requests.splice(0);
  page.takeRequests();
  return page;
}

/** What the page shows and what the replica has. */
async function compare({ model, replica }) {
  const pick = ({ id, verdict, votes, downFrom }) => ({ id, verdict, votes, downFrom });
  const sorted = (list) => list.sort((one, other) => one.id < other.id ? -1 : 1);
  assert.deepEqual(sorted([...model.targets.values()].map(pick)), sorted((await replica.targets()).map(pick)));
  const agents = ({ id, cells, reached }) => ({ id, cells, reached });
  assert.deepEqual(sorted([...model.agents.values()].map(agents)), sorted((await replica.agents()).map(agents)));
  const cells = (await replica.cells(null)).filter(({ target }) => model.targets.has(target));
  for (const { target, agent, state } of cells) assert.equal(model.cells.get(target)?.get(agent)?.state, state);
}

const names = (prefix, count) => [...Array(count).keys()].map((number) => `${prefix}${number}`);

test("what an event does not contain", () => {
  const none = { targets: [], agents: [], cells: [] };
  assert.deepEqual(staleAfter("cell", { agent: "a", target: "db" }), { ...none, targets: ["db"], agents: ["a"] });
  assert.deepEqual(staleAfter("cell", { agent: "a", target: "mesh.b" }), { ...none, agents: ["a", "b"] });
  assert.deepEqual(staleAfter("verdict", { target: "db" }), { ...none, targets: ["db"] });
  assert.deepEqual(staleAfter("definition", { target: "db", definition: {} }), { ...none, targets: ["db"] });
  assert.deepEqual(staleAfter("definition", { target: "db", definition: null }), none);
  assert.deepEqual(staleAfter("agent", { agent: "a", state: "lost" }), { targets: null, agents: null, cells: [] });
  assert.deepEqual(staleAfter("agent", { agent: "a", state: "present", role: "agent" }), { targets: null, agents: null, cells: ["a"] });
  assert.deepEqual(staleAfter("agent", { agent: "r", state: "present", role: "replica" }), { ...none, agents: null });
  assert.deepEqual(staleAfter("agent", { agent: "r", state: "lost" }, ["r"]), { ...none, agents: null });
  assert.deepEqual(staleAfter("gap", { agent: "a", after: 1, before: 3 }), { ...none, cells: ["a"] });
  assert.deepEqual(staleAfter("snapshot", {}), none);
});

test("a change of one target reads one target, not all pages of the list", async () => {
  const page = await following(["a", "b"], names("t", 5000));
  page.replica.report("a", "t7", "down");
  assert.equal(page.model.targets.get("t7").verdict, "partial", "the event is applied immediately");
  assert.equal(page.model.cells.get("t7").get("a").state, "down");
  await page.clock.advance(1000);
  assert.deepEqual(page.takeRequests(), ["target t7", "agent a"]);
  await compare(page);
});

test("a defined target is read, a deleted one is not", async () => {
  const page = await following(["a"], ["db"]);
  page.replica.define("new");
  assert.equal(page.model.targets.get("new").verdict, "unknown");
  assert.deepEqual(page.model.select("tcp", new Set()).map(({ id }) => id), ["new", "db"]);
  await page.clock.advance(1000);
  assert.deepEqual(page.takeRequests(), ["target new"]);
  page.replica.report("a", "new", "up");
  await page.clock.advance(1000);
  assert.deepEqual(page.takeRequests(), ["target new", "agent a"]);
  assert.equal(page.model.targets.get("new").votes.up, 1);
  page.replica.report("a", "new", "down");
  page.replica.remove("new");
  await page.clock.advance(1000);
  assert.ok(!page.model.targets.has("new"));
  assert.deepEqual(page.takeRequests(), ["agent a"]);
});

test("an agent that returns: its cells are read until they are votes, then its targets", async () => {
  const page = await following(["a", "b"], ["db"]);
  const { replica } = page;
  const { agent } = replica;
  let isAwaiting = true;
  replica.agent = async (id) => ({ ...await agent.call(replica, id), awaitingBase: isAwaiting });
  page.documents.apply("agent", { agent: "a", state: "lost", time: "t" });
  assert.deepEqual(page.model.cells.get("db").get("a"), { state: "unknown", reason: "agentSilent", since: "t" });
  page.documents.apply("agent", { agent: "a", state: "present", role: "agent", time: "t" });
  await page.clock.advance(2500);
  assert.deepEqual(page.takeRequests(),
    ["targets", "agents", "overview", "agent a", "cells a", "agent a", "cells a", "agent a", "cells a"]);
  isAwaiting = false;
  await page.clock.advance(10_000);
  assert.deepEqual(page.takeRequests(), ["agent a", "cells a", "target db"]);
  assert.equal(page.model.cells.get("db").get("a").state, "up");
});

test("an agent whose cells stay without votes is not read for ever", async () => {
  const page = await following(["a"], ["db"]);
  page.replica.agent = async (id) => ({ id, awaitingBase: true });
  page.documents.apply("gap", { agent: "a", after: 1, before: 4 });
  await page.clock.advance(600_000);
  assert.equal(page.takeRequests().length, 21);
});

test("an event shows that the engine is there again", async () => {
  const page = await following(["a"], ["db"]);
  page.documents.apply("snapshot", { replica: "r", replicas: ["r"], engine: { connected: false } });
  await page.clock.advance(10_000);
  assert.deepEqual(page.takeRequests(), []);
  page.replica.report("a", "db", "down");
  await page.clock.advance(1000);
  assert.equal(page.model.overview.engine.connected, true);
});

test("a storm of events: the requests are bounded, and the page shows what the replica has", async () => {
  const page = await following(names("a", 20), names("t", 300));
  const { clock, replica } = page;
  const random = seeded(7);
  for (let second = 0; second < 60; second += 1) {
    for (let count = 0; count < 50; count += 1) {
      replica.report(`a${random(20)}`, `t${random(300)}`, ["up", "down", "unreachable"][random(3)]);
    }
    await clock.advance(1000);
  }
  await clock.advance(20_000);
  const requests = page.takeRequests();
  assert.ok(requests.filter((name) => name === "targets").length <= 17, "a list each five seconds");
  assert.ok(requests.length <= 80 * 16, `${requests.length} requests in 80 s`);
  await compare(page);
  await clock.advance(60_000);
  assert.equal(page.takeRequests().length, 3, "only what the comparison has read");
});

test("delayed answers, failures, gaps and disconnections in any order end in the state of the replica", async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = seeded(seed);
    const page = await following(names("a", 4), names("t", 6));
    const { clock, documents, replica } = page;
    replica.before = async () => {
      await new Promise((resolve) => { clock.setTimeout(resolve, random(1500)); });
      if (random(5) === 0) throw { status: [0, 429, 503][random(3)] };
    };
    for (let step = 0; step < 60; step += 1) {
      const [agent, target] = [`a${random(4)}`, random(3) === 0 ? `mesh.a${random(4)}` : `t${random(8)}`];
      const kind = random(20);
      if (kind === 0 && target.startsWith("t")) replica[replica.targetIDs.includes(target) ? "remove" : "define"](target);
      else if (kind === 1) documents.isLive = random(3) > 0;
      else if (kind === 2) documents.apply("agent", { agent, state: "present", role: "agent", time: "t" });
      else replica.report(agent, target, ["up", "down", "unknown"][random(3)]);
      await clock.advance(random(700));
    }
    documents.isLive = true;
    replica.before = async () => {};
    await clock.advance(30_000);
    await compare(page).catch((error) => { throw new Error(`seed ${seed}: ${error.message}`); });
  }
});
