// An event stream that is resumed by id after each interruption, with the state of its connection.

import { EventStreamParser, readEventStream } from "./stream.js";

/** A stream has a heartbeat every 15 s; without a byte for this long, the connection counts as lost. In ms. */
const SILENCE_LIMIT = 20_000;
/** The interval at which the silence is measured, in ms. */
const WATCH_INTERVAL = 1000;
/** The delays before attempts to reconnect, in ms; the last one repeats. */
const RETRY_DELAYS = [500, 1000, 2000, 3000, 5000];
/** Differences of clocks that the page ignores, in ms: the header field has a resolution of a second. */
const CLOCK_TOLERANCE = 2000;
/** Events in this time after a stream was resumed are those of the time without a connection, in ms. */
const REPLAY_TIME = 2000;

/** The delay before an attempt, counted from 0, in ms; random by a fifth, so that pages do not reconnect together. */
export function retryDelay(attempt) {
  return RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length - 1)] * (0.8 + 0.4 * Math.random());
}

function offsetOf(response, now) {
  const offset = Date.parse(response.headers.get("Date") ?? "") - now;
  return Math.abs(offset) > CLOCK_TOLERANCE ? offset : 0;
}

export class ResumingStream {
  #client;
  #path;
  #handler;
  #parser = new EventStreamParser();
  /** Ends the present attempt; null between attempts. */
  #abort = null;
  #timer = null;
  #watchdog = null;
  #lastByte = 0;
  #attempt = 0;
  #isStopped = true;
  #status = { state: "connecting", since: Date.now() };

  /**
   * `handler` has `onStatus(status)`, `onOpen(clockOffset, signal)`, `onEvents(events, {isReplay, signal})`. A status is
   * `{state: "connecting" | "live" | "disconnected" | "denied", since, …}`. `signal` is aborted when the attempt ends.
   */
  constructor(client, path, handler) {
    this.#client = client;
    this.#path = path;
    this.#handler = handler;
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

  goLive(clockOffset) { this.#report({ state: "live", since: Date.now(), clockOffset }); }

  /** The documents that the events need are there: the next interruption begins with the shortest delay. */
  settle() { this.#attempt = 0; }

  /** Ends the attempt of a signal for an error: a document that the events need was not read. */
  fail(error, signal) { if (this.#abort?.signal === signal) this.#end(this.#abort, error); }

  async #connect() {
    const abort = new AbortController();
    this.#abort = abort;
    const known = this.#parser.lastEventID;
    this.#parser = new EventStreamParser();
    this.#parser.lastEventID = known;
    let opened = Date.now();
    this.#lastByte = opened;
    this.#watchdog = setInterval(() => {
      if (Date.now() - this.#lastByte > SILENCE_LIMIT) abort.abort("silent");
    }, WATCH_INTERVAL);
    try {
      await readEventStream(this.#client.url(this.#path), {
        headers: { ...this.#client.headers, ...(known === "" ? {} : { "Last-Event-ID": known }) },
        signal: abort.signal, parser: this.#parser,
        onOpen: (response) => {
          opened = Date.now();
          this.#lastByte = opened;
          this.#handler.onOpen(offsetOf(response, opened), abort.signal);
        },
        onBytes: () => { this.#lastByte = Date.now(); },
        onEvents: (events) => this.#handler.onEvents(events, {
          isReplay: known !== "" && Date.now() - opened < REPLAY_TIME, signal: abort.signal,
        }),
      });
      this.#end(abort, null);
    } catch (error) {
      this.#end(abort, error);
    }
  }

  #end(abort, error) {
    // Another attempt has replaced this one, or the page has stopped the stream.
    if (this.#abort !== abort) return;
    const isSilent = abort.signal.reason === "silent";
    this.#cancel();
    const now = Date.now();
    const since = this.#status.state === "disconnected" ? this.#status.since : isSilent ? this.#lastByte : now;
    const problem = error?.status > 0 ? error : null;
    // A token could change it, further attempts do not.
    if (problem && (problem.status === 401 || problem.status === 403)) {
      this.#report({ state: "denied", since, problem });
      return;
    }
    const delay = retryDelay(this.#attempt);
    this.#attempt += 1;
    this.#report({ state: "disconnected", since, retryAt: now + delay, reason: isSilent ? "silent" : "closed", problem });
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #cancel() {
    clearTimeout(this.#timer);
    clearInterval(this.#watchdog);
    this.#abort?.abort("closed");
    this.#abort = null;
  }

  #report(status) {
    this.#status = status;
    this.#handler.onStatus(status);
  }
}
