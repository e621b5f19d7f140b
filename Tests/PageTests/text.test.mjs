import assert from "node:assert/strict";
import test from "node:test";

import { clock, duration, freezeAges, fullTime, latency, now, setClockOffset, share, shortDuration } from "../../Sources/CPage/web/common/format.js";
import { listRoute, readRoute, targetRoute, WHOLE, writeRoute } from "../../Sources/CPage/web/common/route.js";
import { joined, selectLanguage, text, units, word } from "../../Sources/CPage/web/common/words.js";
import { fleetText, fleetWord, reasonWord, useLanguage } from "../../Sources/CPage/web/fleet/words.js";
import { Clock } from "./clock.mjs";

const plain = (words) => words.replaceAll("\u00a0", " ");

test("latencies and shares are rounded as an operator reads them", () => {
  assert.deepEqual([0, 999.4, 1000, 99_940, 100_000, 1_200_000].map(latency).map(plain),
    ["0 µs", "999 µs", "1.0 ms", "99.9 ms", "100 ms", "1.20 s"]);
  assert.deepEqual([0, 9999, 10_000].map(share).map(plain), ["0.00 %", "99.99 %", "100 %"]);
  assert.deepEqual([latency(null), share(undefined)], ["", ""]);
});

test("a duration has its two largest units", () => {
  selectLanguage("en");
  const seconds = (value) => plain(duration(value * 1000, units()));
  assert.deepEqual([-5, 0, 59, 60, 3661, 86_400, 90_061, 86_460].map(seconds),
    ["0 s", "0 s", "59 s", "1 min", "1 h 1 min", "1 d", "1 d 1 h", "1 d"]);
});

test("a duration in a column has one unit below a day", () => {
  selectLanguage("en");
  const seconds = (value) => plain(shortDuration(value * 1000, units()));
  assert.deepEqual([5, 3661, 86_399, 86_400, 90_061].map(seconds), ["5 s", "1 h", "23 h", "1 d", "1 d 1 h"]);
});

test("a whole time has its zone", () => {
  assert.match(fullTime(0), /^19(69|70)-\d\d-\d\d \d\d:\d\d:\d\d (UTC|\S+ \(UTC[+−]\d+(:\d\d)?\))$/);
});

test("a time has its date unless it is of today, by the clock of the service", (context) => {
  new Clock().install(context);
  const time = new Date(1970, 0, 3, 4, 5, 6).getTime();
  context.after(() => { setClockOffset(0); freezeAges(null); });
  assert.equal(clock(time), "1970-01-03 04:05:06");
  setClockOffset(time);
  assert.deepEqual([clock(time), clock(time, true), clock(time, true, true)], ["04:05:06", "04:05", "1970-01-03"]);
  freezeAges(-1000);
  assert.equal(now(), time - 1000);
});

test("a route is read as it was written", () => {
  const known = ["up", "down"];
  const read = (view) => readRoute(writeRoute(view), known);
  for (const id of ["db", "a/b", "100%", "ä ö", "?q=1"]) {
    assert.deepEqual(readRoute(targetRoute(id), known), { ...WHOLE, id, isPartial: true });
    const view = { ...WHOLE, id, search: "env=prod", states: new Set(["down"]), group: "env", folded: new Set(["a,b", "c"]), window: "7d" };
    assert.deepEqual(read(view), { ...view, isPartial: false });
  }
  for (const search of ["", "env=prod", "a&b=c", "ä #"]) {
    assert.deepEqual(readRoute(listRoute(search), known), { ...WHOLE, search, isPartial: false });
    for (const states of [[], ["down"], ["down", "up"]]) {
      assert.deepEqual(read({ search, states }), { ...WHOLE, search, states: new Set(states), isPartial: false });
    }
  }
  assert.equal(writeRoute({ folded: new Set(["a"]), window: "7d" }), "#/", "groups and windows belong to what is shown");
});

test("a route of another program is the list", () => {
  const list = { ...WHOLE, isPartial: false };
  for (const fragment of ["", "#", "#/", "#/target/", "#x", "#/?state=other"]) assert.deepEqual(readRoute(fragment, ["up"]), list);
  assert.equal(readRoute("#/target/%zz", []).id, "%zz");
});

test("the language is the stored one, else the first of the browser's that exists", () => {
  assert.equal(selectLanguage(null, ["fr", "zh-TW", "en"]), "zh");
  assert.equal(word("states", "down"), "故障");
  assert.equal(selectLanguage("en", ["zh"]), "en");
  assert.equal(selectLanguage("__proto__", ["constructor"]), "en");
});

test("a value that this page does not know is shown as it is", () => {
  selectLanguage("en");
  useLanguage("en");
  assert.deepEqual([word("states", "melted"), word("reasons", "toString"), word("reasons", null)], ["melted", "toString", ""]);
  assert.deepEqual([fleetWord("verdicts", "melted"), reasonWord("agentSilent"), reasonWord("refused"), reasonWord(null)],
    ["melted", "agent silent", "connection refused", ""]);
  assert.equal(text("announce", { name: "{state}", state: "up" }), "{state} is up");
  assert.equal(fleetText("more", {}), "{count} more; search for them");
  assert.equal(joined(["a", "", null, "b"]), "a, b");
});
