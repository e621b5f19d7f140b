// Reads an event stream with fetch. EventSource cannot send an Authorization header and hides comments, which are the
// server's heartbeats. Parsing follows the WHATWG HTML standard, "Server-sent events".

/** The longest line in characters; a longer one ends the stream, so that a wrong server cannot fill the memory. */
const LINE_LIMIT = 4 * 1024 * 1024;
/** A stream has a heartbeat every 15 s; without a byte for this long, the connection counts as lost. In ms. */
export const SILENCE_LIMIT = 20_000;
/** The delays before attempts to reconnect, in ms; the last one repeats. */
const RETRY_DELAYS = [500, 1000, 2000, 3000, 5000];

/** The delay before an attempt, counted from 0, in ms; random by a fifth, so that pages do not reconnect together. */
export function retryDelay(attempt) {
  return RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length - 1)] * (0.8 + 0.4 * Math.random());
}

/** What a response says about itself: `{status, detail, requestID, scope}`; scope: the one that a 401 or 403 requires. */
export async function problemOf(response) {
  let body = {};
  try { body = await response.json(); } catch { /* The body is optional. */ }
  return {
    ...body, status: response.status, title: body.title || response.statusText,
    detail: body.detail || body.title || response.statusText || String(response.status),
    requestID: response.headers.get("X-Request-Id"),
    scope: response.status === 401 || response.status === 403
      ? /scope="([^"]+)"/.exec(response.headers.get("WWW-Authenticate") ?? "")?.[1] ?? null : null,
  };
}

/** Parses the text of an event stream, given in any pieces. */
export class EventStreamParser {
  #rest = "";
  #isAfterReturn = false;
  #isAtStart = true;
  #data = [];
  #type = "";
  /** The last id; kept over events without one. */
  lastEventID = "";
  /** The reconnection time in milliseconds that the server has set, or null. */
  retry = null;

  /** Parses a piece and returns the events that it completes: `{type, data, lastEventID}`. */
  push(text) {
    if (this.#isAtStart && text.length > 0) {
      this.#isAtStart = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    // A line may end in CR LF, and the pieces may be split between the two.
    if (this.#isAfterReturn && text.length > 0) {
      this.#isAfterReturn = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    if (text.endsWith("\r")) this.#isAfterReturn = true;
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop();
    if (this.#rest.length > LINE_LIMIT) throw new Error("a line of the event stream is too long");
    const events = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) {
          events.push({ type: this.#type || "message", data: this.#data.join("\n"), lastEventID: this.lastEventID });
        }
        this.#data = [];
        this.#type = "";
      } else if (line[0] !== ":") {
        this.#field(line);
      }
    }
    return events;
  }

  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.lastEventID = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retry = Number(value);
  }
}

/**
 * Reads a stream until it ends.
 *
 * `onBytes` is called for each piece, `onEvents` for each piece that completes events. Throws the response if it is no
 * event stream, and what fetch throws.
 */
export async function readEventStream(url, { headers, signal, parser, onOpen, onBytes, onEvents }) {
  const response = await fetch(url, {
    headers: { ...headers, Accept: "text/event-stream" }, signal, cache: "no-store", credentials: "same-origin",
  });
  if (!response.ok || !(response.headers.get("Content-Type") || "").startsWith("text/event-stream")) throw response;
  onOpen(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes();
    const events = parser.push(value);
    if (events.length > 0) onEvents(events);
  }
}
