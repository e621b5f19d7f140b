// The connection to the service: its event stream, and the list of targets read once. It runs in the shared worker, or in
// the page where there is none.

import { Client, isTemporary } from "../common/client.js";
import { ResumingStream } from "../common/resuming.js";
import { parseID, TIMELINE_LIMIT } from "./model.js";

/** Events that wait for the list of targets; beyond it, the list is read again. */
const WAITING_EVENT_LIMIT = 100_000;
/** The delay before the timeline is requested again, in ms. */
const PAST_RETRY_DELAY = 5000;

export class Connection {
  #client;
  #post;
  #stream;
  #hasHistory = false;
  #hasPast = false;
  /** Events that arrived before the list of targets; null once it has arrived. */
  #waiting = [];

  /**
   * `base` is the URL of the service's root, `token` a bearer token or null, `post` receives messages:
   * `{kind: "status", status}`, `{kind: "overview", columns, id, gates}`, `{kind: "events", events}`, `{kind: "recent", events}`.
   * Events carry their JSON text, which costs less to send to a page than its values.
   */
  constructor(base, token, post) {
    this.#client = new Client(base, token);
    this.#post = post;
    this.#stream = new ResumingStream(this.#client, "events", {
      onStatus: (status) => post({ kind: "status", status }),
      onOpen: (clockOffset, signal) => this.#open(clockOffset, signal),
      onEvents: (events, details) => this.#receive(events, details),
    });
  }

  get status() { return this.#stream.status; }
  start() { this.#stream.start(); }
  stop() { this.#stream.stop(); }
  retry() { this.#stream.retry(); }

  #open(clockOffset, signal) {
    if (this.#waiting === null) this.#stream.settle();
    this.#stream.goLive(clockOffset);
    if (this.#waiting !== null) this.#readOverview(signal);
    else if (!this.#hasPast) this.#readPast(signal);
    else this.#readRestarts(signal);
  }

  #receive(list, { isReplay, signal }) {
    const events = list.map(({ type, data }) =>
      ({ type, text: data, isMissed: isReplay && type !== "snapshot" && type !== "gap" }));
    if (events.some((event) => event.type === "gap")) {
      // Events were lost: the snapshot follows, and the targets must be read again.
      this.#waiting = [];
      this.#readOverview(signal);
    }
    if (this.#waiting === null) {
      this.#post({ kind: "events", events });
      return;
    }
    // Events of targets and gates depend on the lists; the machine is shown immediately.
    const depends = ({ type }) => type === "target" || type === "gate";
    const targets = events.filter(depends);
    const others = events.filter((event) => !depends(event));
    if (others.length > 0) this.#post({ kind: "events", events: others });
    this.#waiting.push(...targets);
    if (this.#waiting.length > WAITING_EVENT_LIMIT) {
      this.#waiting = [];
      this.#stream.fail(null, signal);
    }
  }

  async #readOverview(signal) {
    try {
      const [response, { gates }] = await Promise.all([
        this.#client.response("GET", "targets/overview", { signal }), this.#readGates(signal),
      ]);
      const id = response.headers.get("Last-Event-ID") || "";
      const columns = await response.json();
      this.#hasHistory = columns.history === true;
      this.#post({ kind: "overview", columns, id, gates });
      const events = this.#waiting || [];
      this.#waiting = null;
      this.#stream.settle();
      if (events.length > 0) this.#post({ kind: "events", events });
      this.#readPast(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#waiting = [];
      this.#stream.fail(error, signal);
    }
  }

  /** Reads the gates; a token that may not read them is no reason to show nothing. */
  async #readGates(signal) {
    try {
      return await this.#client.json("GET", "gates", { signal });
    } catch (problem) {
      if (isTemporary(problem)) throw problem;
      return { gates: [] };
    }
  }

  /** Reads the timeline; without it, the page still shows the present. */
  async #readPast(signal) {
    this.#hasPast = false;
    try {
      const recent = await this.#client.json("GET", "events?types=status,path,interface,target,gate", { signal });
      // The events have details, the history reaches further back.
      const past = this.#hasHistory ? await this.#client.json("GET", `history?limit=${TIMELINE_LIMIT}`, { signal }) : null;
      this.#post({ kind: "recent", events: [...recent.filter((event) => event.type !== "gap"), ...(past?.history ?? [])] });
      this.#hasPast = true;
    } catch {
      setTimeout(() => { if (!signal.aborted) this.#readPast(signal); }, PAST_RETRY_DELAY);
    }
  }

  /** Reads the starts and stops of the service, which are in its history and no events. */
  async #readRestarts(signal) {
    if (!this.#hasHistory) return;
    try {
      const past = await this.#client.json("GET", `history?types=service&limit=${TIMELINE_LIMIT}`, { signal });
      this.#post({ kind: "recent", events: past.history });
    } catch { /* The stream reports the state of the connection. */ }
  }
}

/** Applies a message to a model, in the worker and in the page. Returns its events as `{type, data, isMissed}`. */
export function applyMessage(model, message) {
  if (message.kind === "overview") {
    model.setOverview(message.columns, message.id);
    model.setGates(message.gates ?? []);
  }
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
