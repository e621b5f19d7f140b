// The shared worker: all tabs of a browser use one connection, because HTTP/1.1 allows six per origin.

import { applyMessage, Connection } from "./connection.js";
import { Model } from "./model.js";

const model = new Model();
const ports = new Set();
let connection = null;

function post(message) {
  applyMessage(model, message);
  // Only the pages draw changes.
  model.takeChanges();
  for (const port of ports) port.postMessage(message);
}

function receive(port, message) {
  if (message.kind === "hello") {
    connection ??= new Connection(message.base, message.token, post);
    if (model.isLoaded) port.postMessage({ kind: "all", model: model.dump() });
    ports.add(port);
    port.postMessage({ kind: "status", status: connection.status });
    connection.start();
  } else if (message.kind === "retry") {
    connection?.retry();
  } else if (message.kind === "bye") {
    ports.delete(port);
    if (ports.size === 0) connection?.stop();
  }
}

globalThis.onconnect = (event) => {
  const [port] = event.ports;
  port.onmessage = (message) => receive(port, message.data);
};
