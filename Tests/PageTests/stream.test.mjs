import assert from "node:assert/strict";
import test from "node:test";

import { EventStreamParser } from "../../Sources/CPage/web/common/stream.js";

const events = (pieces, parser = new EventStreamParser()) => pieces.flatMap((piece) => parser.push(piece));
const event = (data, type = "message", lastEventID = "") => ({ type, data, lastEventID });

test("an event has its type, its lines of data and the last id", () => {
  assert.deepEqual(events(["id: 7\nevent: a\ndata: 1\ndata:2\n\ndata\n\n"]), [event("1\n2", "a", "7"), event("", "message", "7")]);
});

test("any line ends, comments, fields without a value and unknown fields", () => {
  assert.deepEqual(events([":c\r\ndata:  x\r\rdata: y\nevent\nfoo: 1\n\n"]), [event(" x"), event("y")]);
});

test("the pieces may be split anywhere", () => {
  const text = "\ufeffid: 1\r\nevent: b\r\ndata: ü1\r\n\r\nid: 2\rdata: 2\r\rid: 3\ndata: 3\n\n";
  const whole = events([text]);
  assert.deepEqual(whole, [event("ü1", "b", "1"), event("2", "message", "2"), event("3", "message", "3")]);
  for (let at = 1; at < text.length; at += 1) assert.deepEqual(events([text.slice(0, at), text.slice(at)]), whole, `at ${at}`);
  assert.deepEqual(events([...text]), whole);
});

test("an incomplete event is not reported, an id with a null character not kept", () => {
  const parser = new EventStreamParser();
  assert.deepEqual(events(["id: 1\0\nretry: 1500\ndata: 1\n"], parser), []);
  assert.equal(parser.lastEventID, "");
});

test("the last id is that of a complete event, or of a frame without one", () => {
  const text = "id: a-2\nevent: status\ndata: {}\n\n";
  for (let length = 0; length <= text.length; length += 1) {
    const parser = new EventStreamParser();
    events(["id: a-1\ndata: 1\n\n", text.slice(0, length)], parser);
    assert.equal(parser.lastEventID, length < text.length ? "a-1" : "a-2", `${length} characters`);
  }
  const parser = new EventStreamParser();
  assert.deepEqual(events([":\nid: a-7\n"], parser), []);
  assert.equal(parser.lastEventID, "");
  assert.deepEqual(events(["\n", "data: 1\n\n"], parser), [event("1", "message", "a-7")]);
  assert.equal(parser.lastEventID, "a-7");
});

test("a line without an end does not fill the memory", () => {
  const parser = new EventStreamParser();
  const piece = "x".repeat(1024 * 1024);
  assert.throws(() => { for (let count = 0; count < 6; count += 1) parser.push(piece); }, /too long/);
});
