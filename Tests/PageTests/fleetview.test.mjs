import assert from "node:assert/strict";
import test from "node:test";

import { now } from "../../Sources/CPage/web/common/format.js";
import { selectLanguage } from "../../Sources/CPage/web/common/words.js";
import { commonSuffix, geometryOf, scrolled } from "../../Sources/CPage/web/fleet/geometry.js";
import { fleetHeadline } from "../../Sources/CPage/web/fleet/headline.js";
import { FleetModel } from "../../Sources/CPage/web/fleet/model.js";
import { useLanguage } from "../../Sources/CPage/web/fleet/words.js";

test("the headline of a fleet has the problems, or that all is well", () => {
  selectLanguage("en");
  useLanguage("en");
  const model = new FleetModel();
  assert.equal(fleetHeadline(model).words, "No targets yet");
  const target = (id, verdict) => ({ id, verdict, since: new Date(now() - 7_200_000).toISOString(), labels: {} });
  model.setTargets([target("a", "up"), target("b", "up")]);
  assert.deepEqual(fleetHeadline(model), { state: "up", words: "All 2 up", longest: "" });
  model.setAgents([{ id: "x", state: "lost" }]);
  assert.deepEqual(fleetHeadline(model), { state: "partial", words: "All 2 up · 1 agent silent", longest: "" });
  model.setTargets([target("a", "down"), target("b", "partial"), target("c", "paused")]);
  const { state, words, longest } = fleetHeadline(model);
  assert.deepEqual([state, words, longest.replaceAll("\u00a0", " ")], ["down", "1 down, 1 partial of 3 · 1 agent silent", "longest 2 h"]);
});

test("labels of the matrix lose what all end with, and keep their space", () => {
  const names = ["edge-1.prod.example", "edge-22.prod.example"];
  assert.equal(commonSuffix(names), ".prod.example");
  assert.deepEqual(["a.b", "a.c"].map((name) => commonSuffix([name, "a.c"])), ["", ".c"]);
  assert.equal(commonSuffix(["prod.example", "a.prod.example"]), ".example");
  const { columnLabels, rowLabels, cell, width, left } = geometryOf(names, names);
  assert.deepEqual([columnLabels, rowLabels, width], [["edge-1", "edge-22"], ["edge-1", "edge-22"], 2 * cell.width]);
  assert.ok(left > 7 * 6);
  assert.ok(geometryOf(Array(60).fill("a"), ["b"]).cell.width < cell.width);
});

test("a range is scrolled to beside labels that stay", () => {
  assert.deepEqual([scrolled(0, 300, 120, 16, 100), scrolled(50, 300, 120, 16, 100), scrolled(0, 300, 400, 16, 100)], [0, 20, 116]);
});
