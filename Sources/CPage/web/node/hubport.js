// The page's side of the connection: the shared worker, or a connection of its own where there is none.

import { BASE, BUILD, stopWhileHidden } from "../common/frame.js";
import { Connection } from "./connection.js";

/** FNV-1a, to name the worker of a token without the token. */
function hash(string) {
  let value = 0x811c9dc5;
  for (let index = 0; index < string.length; index += 1) value = Math.imul(value ^ string.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(16);
}

export class HubPort {
  #token;
  #receive;
  #send = () => {};

  /** `receive` is called with the messages of the connection. */
  constructor(token, receive) {
    this.#token = token;
    this.#receive = receive;
  }

  connect() { if (globalThis.SharedWorker) this.#connectToWorker(); else this.#connectLocally(); }

  retry() { this.#send({ kind: "retry" }); }

  #connectToWorker() {
    const hello = { kind: "hello", base: BASE, token: this.#token };
    const policy = globalThis.trustedTypes?.createPolicy("reachd", { createScriptURL: (url) => url });
    const url = new URL(`page/${BUILD}/hub.js`, BASE).href;
    const worker = new SharedWorker(policy ? policy.createScriptURL(url) : url,
      { type: "module", name: `reachd-${BUILD}-${hash(this.#token ?? "")}` });
    worker.port.onmessage = (event) => this.#receive(event.data);
    worker.onerror = () => this.#connectLocally();
    worker.port.postMessage(hello);
    this.#send = (message) => worker.port.postMessage(message);
    addEventListener("pagehide", () => worker.port.postMessage({ kind: "bye" }));
    addEventListener("pageshow", (event) => { if (event.persisted) worker.port.postMessage(hello); });
  }

  #connectLocally() {
    const connection = new Connection(BASE, this.#token, this.#receive);
    this.#send = () => connection.retry();
    stopWhileHidden(connection);
    connection.start();
  }
}
