// A service in the place of `fetch`: documents by path, and event streams that the test writes.

export const BASE = "http://service.test/prefix/";

/** An open event stream. */
class Stream {
  #controller;
  #signal;
  body = new ReadableStream({ start: (controller) => { this.#controller = controller; } });

  constructor(signal, headers) {
    this.#signal = signal;
    this.headers = headers;
    signal?.addEventListener("abort", () => { try { this.#controller.error(signal.reason); } catch { /* It has ended. */ } });
  }

  get isOpen() { return !this.#signal?.aborted; }
  write(text) { this.#controller.enqueue(new TextEncoder().encode(text)); }
  /** Sends an event; without an id if it is null. */
  send(type, data, id = null) {
    this.write(`${id === null ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  }
  end() { this.#controller.close(); }
}

export class Service {
  /** Answers by path with its query: a document, a function that returns one, or `{status, …}` in `refusal`. */
  documents = {};
  /** The requests, as `GET path`. */
  requests = [];
  /** The event streams that were opened, the last one last. */
  streams = [];
  /** A response in place of streams, or null. */
  refusal = null;

  get stream() { return this.streams.at(-1); }

  install(test) {
    const { fetch } = globalThis;
    globalThis.fetch = (url, options) => this.#answer(url, options);
    test.after(() => { globalThis.fetch = fetch; });
    return this;
  }

  /** The requests since the last call. */
  takeRequests() { return this.requests.splice(0); }

  async #answer(url, { method = "GET", headers, signal, body }) {
    const path = String(url).slice(BASE.length);
    this.requests.push(`${method} ${path}`);
    this.last = { method, headers, body };
    if (headers.Accept === "text/event-stream") {
      if (this.refusal) return problem(this.refusal);
      const stream = new Stream(signal, headers);
      this.streams.push(stream);
      return new Response(stream.body, { headers: { "Content-Type": "text/event-stream" } });
    }
    const document = this.documents[path];
    const answer = await (typeof document === "function" ? document() : document);
    if (answer === undefined) return problem({ status: 404 });
    if (answer instanceof Response) return answer;
    if (signal?.aborted) throw signal.reason;
    return new Response(JSON.stringify(answer), { headers: { "Content-Type": "application/json" } });
  }
}

/** A response with a problem (RFC 9457). */
export function problem({ status, headers = {}, ...body }) {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/problem+json", ...headers } });
}

/** A promise that the test keeps: `{promise, resolve, reject}`. */
export function later() {
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }));
  return result;
}

/** Random numbers that are the same in each run: `random(limit)` is less than the limit. */
export function seeded(seed = 1) {
  let state = seed;
  return (limit) => {
    state = state * 48271 % 2147483647;
    return state % limit;
  };
}
