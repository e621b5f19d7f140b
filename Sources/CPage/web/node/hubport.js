// The page's side of the connection: the shared worker, or a connection of its own where there is none.

import { BASE, BUILD, stopWhileHidden } from "../common/frame.js";
import { Connection } from "./connection.js";

/** A worker that has not answered after this time, in ms, is not used: Chromium does not report each one that it could not load. */
const WORKER_LIMIT = 4000;

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
    let isUsed = true;
    const fallBack = () => {
      if (!isUsed) return;
      isUsed = false;
      worker.port.onmessage = null;
      this.#connectLocally();
    };
    const timer = setTimeout(fallBack, WORKER_LIMIT);
    worker.port.onmessage = (event) => {
      clearTimeout(timer);
      this.#receive(event.data);
    };
    worker.onerror = fallBack;
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
