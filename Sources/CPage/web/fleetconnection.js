// The connection of a page to a replica: the documents once, and then one event stream that resumes by id.

import { EventStreamParser, SILENCE_LIMIT, problemOf, readEventStream, retryDelay } from "./stream.js";

/** How long a hidden page keeps its stream, in ms. */
const HIDDEN_LIMIT = 30_000;
/** The items of one page of a list. */
const TARGETS_PER_PAGE = 1000;
const CELLS_PER_PAGE = 10_000;

export class FleetConnection {
  #base;
  #token;
  #post;
  #parser = new EventStreamParser();
  #abort = null;
  #timer = null;
  #attempt = 0;
  /** Events that arrived before the documents; null once they have. */
  #waiting = [];
  status = { state: "connecting", since: Date.now() };

  /** `post` receives `{kind: "status"}`, `{kind: "all", overview, agents, targets, cells}` and `{kind: "events", events}`. */
  constructor(base, token, post) {
    this.#base = base;
    this.#token = token;
    this.#post = post;
    let hidden = null;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hidden);
      if (document.hidden) hidden = setTimeout(() => this.#stop(), HIDDEN_LIMIT);
      else if (this.#abort === null && this.status.state !== "denied") this.start();
    });
  }

  start() {
    this.#close();
    const abort = new AbortController();
    this.#abort = abort;
    this.#run(abort);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#abort?.abort("closed");
    this.#abort = null;
  }

  /** Closes the stream of a hidden page; `start` resumes after the last event. */
  #stop() {
    this.#close();
    if (this.status.state === "live") this.#report({ state: "disconnected", since: Date.now(), reason: "hidden" });
  }

  #report(status) {
    this.status = status;
    this.#post({ kind: "status" });
  }

  /** Requests a document; throws `{status, detail, requestID}`. */
  async request(method, path, body = undefined, signal = undefined) {
    const response = await fetch(new URL(path, this.#base), {
      method, cache: "no-cache", signal, body: body && JSON.stringify(body),
      headers: { ...this.#headers, Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) },
    });
    if (!response.ok) throw await problemOf(response);
    return response.json();
  }

  get #headers() { return this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` }; }

  /** Reads all pages of a list. */
  async list(path, member, limit, signal = undefined) {
    const items = [];
    for (let next = ""; next !== null;) {
      const more = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
      const page = await this.request("GET", `${path}${path.includes("?") ? "&" : "?"}limit=${limit}${more}`, undefined, signal);
      items.push(...page[member]);
      next = page.next ?? null;
    }
    return items;
  }

  targets(signal) { return this.list("fleet/targets", "targets", TARGETS_PER_PAGE, signal); }
  cells(agent, signal) {
    const query = agent === null ? "" : `?from=${encodeURIComponent(agent)}`;
    return this.list(`fleet/matrix${query}`, "cells", CELLS_PER_PAGE, signal);
  }

  async #run(abort) {
    let lastByte = Date.now();
    const known = this.#parser.lastEventID;
    this.#parser = new EventStreamParser();
    this.#parser.lastEventID = known;
    if (known === "") this.#waiting = [];
    const watchdog = setInterval(() => {
      if (Date.now() - lastByte > SILENCE_LIMIT) abort.abort("silent");
    }, 1000);
    try {
      await readEventStream(new URL("fleet/events", this.#base), {
        headers: { ...this.#headers, ...(known === "" ? {} : { "Last-Event-ID": known }) }, signal: abort.signal,
        parser: this.#parser,
        onOpen: () => {
          this.#attempt = 0;
          if (this.#waiting !== null) this.#readAll(abort); else this.#report({ state: "live", since: Date.now() });
        },
        onBytes: () => { lastByte = Date.now(); },
        onEvents: (events) => this.#receive(events, abort),
      });
      this.#retry(abort, null);
    } catch (error) {
      this.#retry(abort, error instanceof Response ? await problemOf(error) : null);
    } finally {
      clearInterval(watchdog);
    }
  }

  #receive(list, abort) {
    const events = list.flatMap(({ type, data }) => {
      try { return [{ type, data: JSON.parse(data) }]; } catch { return []; }
    });
    // A gap without an agent: events were lost, and everything is read again. With one: that agent's cells.
    if (events.some((event) => event.type === "gap" && event.data.agent === undefined)) {
      this.#waiting = [];
      this.#readAll(abort);
    }
    if (this.#waiting === null) this.#post({ kind: "events", events }); else this.#waiting.push(...events);
  }

  async #readAll(abort) {
    const { signal } = abort;
    try {
      const [overview, agents, targets, cells] = await Promise.all([
        this.request("GET", "fleet", undefined, signal), this.request("GET", "fleet/agents", undefined, signal),
        this.targets(signal), this.cells(null, signal),
      ]);
      this.#post({ kind: "all", overview, agents: agents.agents, targets, cells });
      const events = this.#waiting ?? [];
      this.#waiting = null;
      this.#report({ state: "live", since: Date.now() });
      this.#post({ kind: "events", events });
    } catch (error) {
      if (signal.aborted) return;
      this.#retry(abort, error.status ? error : null);
      abort.abort("failed");
    }
  }

  #retry(abort, problem) {
    // Another attempt has replaced this one.
    if (this.#abort !== abort) return;
    this.#abort = null;
    const since = this.status.state === "disconnected" ? this.status.since : Date.now();
    if (problem && (problem.status === 401 || problem.status === 403)) {
      this.#report({ state: "denied", since, problem });
      return;
    }
    const delay = retryDelay(this.#attempt);
    this.#attempt += 1;
    this.#report({ state: "disconnected", since, retryAt: Date.now() + delay, problem });
    this.#timer = setTimeout(() => this.start(), delay);
  }
}
