import assert from "node:assert/strict";
import test from "node:test";

import { Client, isTemporary } from "../../Sources/CPage/web/common/client.js";
import { BASE, problem, Service } from "./service.mjs";

test("a request has the token, and a URL below that of the service", async (context) => {
  const service = new Service().install(context);
  service.documents["a?b=c"] = { x: 1 };
  assert.deepEqual(await new Client(BASE, "secret").json("GET", "a?b=c"), { x: 1 });
  assert.equal(service.last.headers.Authorization, "Bearer secret");
  await new Client(BASE, null).json("POST", "a?b=c", { body: { y: 2 } });
  assert.deepEqual([service.last.body, service.last.headers["Content-Type"], service.last.headers.Authorization],
    ['{"y":2}', "application/json", undefined]);
});

test("a refusal is thrown with its request id and the scope that it needs", async (context) => {
  const service = new Service().install(context);
  service.documents.a = () => problem({
    status: 403, title: "t", detail: "d", headers: { "X-Request-Id": "r", "WWW-Authenticate": 'Bearer scope="check"' },
  });
  await assert.rejects(new Client(BASE, null).json("GET", "a"),
    { status: 403, title: "t", detail: "d", requestID: "r", scope: "check" });
  service.documents.a = () => new Response("<html>", { status: 502, statusText: "Bad Gateway" });
  await assert.rejects(new Client(BASE, null).json("GET", "a"), { status: 502, detail: "Bad Gateway", scope: null });
});

test("a request without a response has the status 0, one without content no document", async (context) => {
  const service = new Service().install(context);
  service.documents.a = () => { throw new TypeError("network"); };
  await assert.rejects(new Client(BASE, null).json("GET", "a"), { status: 0, detail: "network" });
  service.documents.a = () => new Response(null, { status: 204 });
  assert.equal(await new Client(BASE, null).json("POST", "a"), null);
});

test("what may succeed later", () => {
  const statuses = [0, undefined, 400, 401, 403, 404, 429, 500, 503];
  assert.deepEqual(statuses.filter((status) => isTemporary({ status })), [0, undefined, 429, 500, 503]);
});
