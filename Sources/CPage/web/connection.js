// The connection to the service: one event stream that resumes by id, and the list of targets read once. It runs in the
// shared worker, or in the page where there is none.

import { EventStreamParser, SILENCE_LIMIT, problemOf, readEventStream, retryDelay } from "./stream.js";
import { TIMELINE_LIMIT, parseID } from "./model.js";

/** Events that wait for the list of targets; beyond it, the list is read again. */
const WAITING_EVENT_LIMIT = 100_000;
/** The delay before the timeline is requested again, in ms. */
const PAST_RETRY_DELAY = 5000;
/** Differences of clocks that the page ignores, in ms: the header field has a resolution of a second. */
const CLOCK_TOLERANCE = 2000;

/** How far the clock of a response is ahead, in ms. */
function clockOffset(response, now) {
  const offset = Date.parse(response.headers.get("Date") ?? "") - now;
  return Math.abs(offset) > CLOCK_TOLERANCE ? offset : 0;
}

export class Connection {
  #base;
  #token;
  #post;
  #parser = new EventStreamParser();
  #abort = null;
  #timer = null;
  #watchdog = null;
  #lastByte = 0;
  #attempt = 0;
  #isStopped = true;
  #hasHistory = false;
  #hasPast = false;
  /** Events that arrived before the list of targets; null once it has arrived. */
  #waiting = [];
  #status = { state: "connecting", since: Date.now() };

  /**
   * `base` is the URL of the service's root, `token` a bearer token or null, `post` receives messages:
   * `{kind: "status", status}`, `{kind: "overview", columns, id}`, `{kind: "events", events}`, `{kind: "recent", events}`.
   * Events carry their JSON text, which costs less to send to a page than its values.
   */
  constructor(base, token, post) {
    this.#base = base;
    this.#token = token;
    this.#post = post;
  }

  get status() { return this.#status; }

  start() {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#attempt = 0;
    this.#connect();
  }

  /** Closes the stream; `start` resumes after the last event. */
  stop() {
    this.#isStopped = true;
    this.#cancel();
    if (this.#status.state === "live") this.#report({ state: "disconnected", since: Date.now(), reason: "hidden" });
  }

  /** Connects now instead of after the delay. */
  retry() {
    if (this.#isStopped || this.#status.state === "live") return;
    this.#cancel();
    this.#connect();
  }

  #cancel() {
    clearTimeout(this.#timer);
    clearInterval(this.#watchdog);
    this.#abort?.abort();
    this.#abort = null;
  }

  #report(status) {
    this.#status = status;
    this.#post({ kind: "status", status });
  }

  #headers() {
    return this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` };
  }

  /** Reads a document; throws the response if it is not a success. */
  async #read(path, signal) {
    const response = await fetch(new URL(path, this.#base), {
      headers: { ...this.#headers(), Accept: "application/json" }, signal, cache: "no-cache",
    });
    if (!response.ok) throw response;
    return response;
  }

  async #connect() {
    const abort = new AbortController();
    this.#abort = abort;
    const known = this.#parser.lastEventID;
    this.#parser = new EventStreamParser();
    this.#parser.lastEventID = known;
    let opened = null;
    this.#lastByte = Date.now();
    clearInterval(this.#watchdog);
    this.#watchdog = setInterval(() => {
      if (Date.now() - this.#lastByte > SILENCE_LIMIT) abort.abort("silent");
    }, 1000);
    try {
      await readEventStream(new URL("events", this.#base), {
        headers: { ...this.#headers(), ...(known === "" ? {} : { "Last-Event-ID": known }) },
        signal: abort.signal, parser: this.#parser,
        onOpen: (response) => {
          opened = Date.now();
          if (this.#waiting === null) this.#attempt = 0;
          this.#lastByte = opened;
          this.#report({ state: "live", since: opened, clockOffset: clockOffset(response, opened) });
          if (this.#waiting !== null) this.#readOverview(abort.signal);
          else if (!this.#hasPast) this.#readPast(abort.signal);
          else this.#readRestarts(abort.signal);
        },
        onBytes: () => { this.#lastByte = Date.now(); },
        onEvents: (events) => this.#receive(events, known !== "" && Date.now() - opened < 2000, abort.signal),
      });
      this.#ended(abort, { reason: "closed" });
    } catch (error) {
      await this.#failed(abort, error);
    }
  }

  #receive(list, isResumed, signal) {
    const events = list.map(({ type, data }) =>
      ({ type, text: data, isMissed: isResumed && type !== "snapshot" && type !== "gap" }));
    if (events.some((event) => event.type === "gap")) {
      // Events were lost: the snapshot follows, and the targets must be read again.
      this.#waiting = [];
      this.#readOverview(signal);
    }
    if (this.#waiting === null) {
      this.#post({ kind: "events", events });
      return;
    }
    // Only events of targets depend on the list; the machine is shown immediately.
    const targets = events.filter((event) => event.type === "target");
    const others = events.filter((event) => event.type !== "target");
    if (others.length > 0) this.#post({ kind: "events", events: others });
    this.#waiting.push(...targets);
    if (this.#waiting.length > WAITING_EVENT_LIMIT) this.#abort?.abort("overload");
  }

  async #readOverview(signal) {
    try {
      const response = await this.#read("targets/overview", signal);
      const id = response.headers.get("Last-Event-ID") || "";
      const columns = await response.json();
      this.#hasHistory = columns.history === true;
      this.#post({ kind: "overview", columns, id });
      const events = this.#waiting || [];
      this.#waiting = null;
      this.#attempt = 0;
      if (events.length > 0) this.#post({ kind: "events", events });
      this.#readPast(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Response) {
        this.#waiting = [];
        await this.#refused(error);
        this.#abort?.abort("refused");
      } else {
        this.#abort?.abort("failed");
      }
    }
  }

  /** Reads the timeline; without it, the page still shows the present. */
  async #readPast(signal) {
    this.#hasPast = false;
    try {
      const recent = await this.#read("events?types=status,path,interface,target", signal);
      // The events have details, the history reaches further back.
      const past = this.#hasHistory ? await this.#read(`history?limit=${TIMELINE_LIMIT}`, signal) : null;
      this.#post({
        kind: "recent",
        events: [...(await recent.json()).filter((event) => event.type !== "gap"), ...(past ? (await past.json()).history : [])],
      });
      this.#hasPast = true;
    } catch {
      setTimeout(() => { if (!signal.aborted) this.#readPast(signal); }, PAST_RETRY_DELAY);
    }
  }

  /** Reads the starts and stops of the service, which are in its history and no events. */
  async #readRestarts(signal) {
    if (!this.#hasHistory) return;
    try {
      const past = await this.#read(`history?types=service&limit=${TIMELINE_LIMIT}`, signal);
      this.#post({ kind: "recent", events: (await past.json()).history });
    } catch { /* The stream reports the state of the connection. */ }
  }

  async #failed(abort, error) {
    if (error instanceof Response) {
      await this.#refused(error);
      if (this.#status.state === "denied") { this.#cancel(); return; }
      this.#ended(abort, { reason: "refused", problem: this.#status.problem });
      return;
    }
    if (abort.signal.aborted && abort.signal.reason === "refused") {
      // The stream was open, but a document was refused.
      if (this.#status.state === "denied") this.#cancel();
      else this.#ended(abort, { reason: "refused", problem: this.#status.problem });
      return;
    }
    this.#ended(abort, { reason: abort.signal.aborted && abort.signal.reason === "silent" ? "silent" : "failed" });
  }

  /** Reports a refusal; one that a token could change ends the attempts. */
  async #refused(response) {
    const problem = await problemOf(response);
    const isDenied = response.status === 401 || response.status === 403;
    const since = this.#status.state === "disconnected" ? this.#status.since : Date.now();
    this.#report(isDenied ? { state: "denied", since, problem } : { ...this.#status, problem });
  }

  #ended(abort, details) {
    // Another attempt has replaced this one, or the page has stopped the connection.
    if (this.#abort !== abort || this.#isStopped) return;
    this.#cancel();
    const now = Date.now();
    const delay = retryDelay(this.#attempt);
    this.#attempt += 1;
    const since = this.#status.state === "disconnected" ? this.#status.since
      : details.reason === "silent" ? this.#lastByte : now;
    this.#report({ state: "disconnected", since, retryAt: now + delay, ...details });
    this.#timer = setTimeout(() => this.#connect(), delay);
  }
}

/** Applies a message of the connection to a model. Returns its events as `{type, data, isMissed}`. */
export function applyMessage(model, message) {
  if (message.kind === "overview") model.setOverview(message.columns, message.id);
  if (message.kind === "recent") model.setTimeline(message.events);
  const events = [];
  for (const { type, text, isMissed } of message.kind === "events" ? message.events : []) {
    let data;
    try { data = JSON.parse(text); } catch { continue; }
    const isApplied = model.apply(type, data, isMissed);
    events.push({ type, data, isMissed: isMissed && isApplied && parseID(data.id) !== null });
  }
  return events;
}
