import assert from "node:assert/strict";
import test from "node:test";

import { selectLanguage } from "../../Sources/CPage/web/common/words.js";
import { timelineFilter, withBursts } from "../../Sources/CPage/web/node/bursts.js";
import { adviceText, evidenceText } from "../../Sources/CPage/web/node/evidence.js";
import { barsOf, lastUp, outageCount, outagesOf } from "../../Sources/CPage/web/node/outages.js";
import { barsSummary, HALF_HOUR, sparkScale, sparkSlots } from "../../Sources/CPage/web/node/slots.js";
import { months } from "../../Sources/CPage/web/node/targetreader.js";

const plain = (words) => words.replaceAll("\u00a0", " ");
const at = (seconds) => new Date(seconds * 1000).toISOString();
const entry = (seconds, from, to, reason = null) => ({ time: at(seconds), from, to, reason });

test("the states of bars are words with their time", () => {
  selectLanguage("en");
  assert.equal(plain(barsSummary("n".repeat(48), HALF_HOUR)), "unreachable 1 d");
  assert.equal(plain(barsSummary("..uuud", HALF_HOUR)), "up 1 h 30 min, down 30 min");
  assert.equal(barsSummary("......", HALF_HOUR), "no data");
});

test("a sparkline has its own scale", () => {
  const slots = sparkSlots("A/!.M");
  assert.deepEqual([slots[0], Math.round(slots[1]), slots[2], slots[3]], [100, 60_000_000, "failed", null]);
  assert.equal(sparkScale(sparkSlots("!.!")), null);
  const { top, median } = sparkScale(Array(59).fill(1000).concat(2000));
  assert.deepEqual([top, median], [2000, 1000]);
  assert.equal(sparkScale(Array(59).fill(1000).concat(1e6)).top, 4000, "one slow check does not flatten the others");
});

test("an outage begins with down and ends with up, a pause or the removal", () => {
  const history = [entry(90, "up", "down", "reset"), entry(80, "unreachable", "up"), entry(70, "down", "unreachable"), entry(60, "unknown", "down"),
    entry(50, "down", "unknown", "slow"), entry(40, "up", "down", "refused"), entry(30, "down", "paused"), entry(10, "up", "down")];
  const outages = outagesOf(history, [{ time: at(35), subject: "machine" }, { time: at(-30), subject: "interface:eth0" }]);
  assert.deepEqual(outages.map(({ start, end, reason }) => [start / 1000, end && end / 1000, reason]),
    [[90, null, "reset"], [40, 80, "refused"], [10, 30, null]]);
  assert.deepEqual(outages.map(({ changes }) => changes.map(({ subject }) => subject)), [["machine"], ["machine"], ["interface:eth0"]]);
  assert.deepEqual(outagesOf([]), []);
  assert.deepEqual([lastUp(history, "down", 100), lastUp(history, "up", 100), lastUp([], "down", 100)], [90_000, 100, null]);
});

test("an outage that began before the window counts", () => {
  const of = (outages, endedOutages, down) => outageCount({ outages, endedOutages, seconds: { down } });
  assert.deepEqual([of(0, 0, 60), of(0, 1, 5), of(2, 1, 30), of(0, 0, 0), of(1, 2, 9)], [1, 1, 2, 0, 2]);
});

test("the steps of an uptime are bars of the most severe state", () => {
  const step = (seconds) => ({ seconds: { up: 0, down: 0, unreachable: 0, unknown: 0, paused: 0, unmonitored: 0, ...seconds } });
  assert.equal(barsOf([step({ up: 9 }), step({ up: 9, down: 1 }), step({ up: 1, unreachable: 1 }), step({ paused: 1 }), step({ unmonitored: 1 })]), "udnp.");
});

test("the last month is over, also in January", () => {
  const { present, last } = months(new Date(2026, 0, 1, 1).getTime());
  assert.deepEqual([present, last], ["3600s", "2025-12"]);
});

function event(seconds, id, to, more = {}) {
  return { id: `ab-${seconds}`, time: seconds * 1000, type: "target", data: { from: "unknown", to, target: { id }, ...more }, isMissed: false };
}

test("events of one kind that come together are one line", () => {
  const items = [event(100, "z", "down"), ...[9, 8, 7, 6, 5].map((second) => event(second, `t${second}`, "up")), event(1, "a", "up")];
  assert.deepEqual(withBursts(items).map((line) => line.items?.length ?? line.data.target.id), ["z", 5, "a"]);
  const few = [event(3, "a", "up"), event(2, "b", "up"), event(1, "c", "up")];
  assert.deepEqual(withBursts(few), few);
  const mixed = [4, 3, 2, 1].map((second) => event(second, "a", "down", { reason: `r${second}` }));
  assert.equal(withBursts(mixed).length, 4);
});

test("the timeline is filtered by type, and by target and label", () => {
  const items = [event(1, "db", "up"), { type: "status", data: {} }, { type: "gate", data: {} }, { type: "service", data: { subject: "service" } },
    { type: "target", data: { subject: "target:gone", to: "removed" } }];
  const select = (type, matches) => items.filter(timelineFilter(type, matches, new Map([["db", { id: "db", labels: { env: "prod" } }]])))
    .map((item) => item.type);
  assert.deepEqual(select("", null).length, 5);
  assert.deepEqual([select("machine", null), select("gate", null), select("target", null)], [["status"], ["gate"], ["target", "target"]]);
  assert.deepEqual(select("", ({ labels }) => labels.env === "prod"), ["target"]);
  assert.deepEqual(select("", ({ id }) => id === "gone"), ["target"]);
});

test("the diagnosis has words for its reason, and is in the language of the page where it is known", () => {
  selectLanguage("en");
  assert.deepEqual(evidenceText("10.0.0.9:5432: refused", "refused"), { text: "10.0.0.9:5432: connection refused", lang: null });
  assert.equal(evidenceText("[::1]:80: httpStatus, HTTP 503", "httpStatus").text, "[::1]:80: unexpected HTTP status · HTTP 503");
  assert.equal(evidenceText("a:1: refused, Connection refused", "refused").text, "a:1: connection refused");
  assert.deepEqual(evidenceText("eth0 is up", null), { text: "eth0 is up", lang: "en" });
  assert.deepEqual(adviceText("Renew it.", "certificateExpired"), { text: "Renew it.", lang: "en" });
  selectLanguage("zh");
  const chinese = ["eth0 is up", "10.0.0.5 on eth0", "the default route via 10.0.0.1, dev eth0", "10.0.0.0/24 on link, dev eth0", "web is 10.0.0.1 (0.5 ms)",
    "10.0.0.1:443 accepts connections (2 ms)", "as expected", "as expected (1 ms)"].map((evidence) => evidenceText(evidence, null));
  assert.deepEqual(chinese.map(({ lang }) => lang), chinese.map(() => null));
  assert.ok(chinese.every(({ text }) => !/[{}]/.test(text) && /[\u4e00-\u9fff]/.test(text)));
  assert.deepEqual(evidenceText("TLS 1.3, 42 days left", null), { text: "TLS 1.3, 42 days left", lang: "en" });
  assert.equal(adviceText("Renew it.", "certificateExpired").lang, null);
  assert.equal(evidenceText("a:1: refused, Connection refused", "refused").text, "a:1: 连接被拒绝");
  selectLanguage("en");
});
