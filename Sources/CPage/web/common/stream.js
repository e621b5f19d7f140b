// Reads an event stream with fetch. EventSource cannot send an Authorization header and hides comments, which are the
// server's heartbeats. Parsing follows the WHATWG HTML standard, "Server-sent events".

import { problemOf } from "./client.js";

/** The longest line in characters; a longer one ends the stream, so that a wrong server cannot fill the memory. */
const LINE_LIMIT = 4 * 1024 * 1024;
/** Parses the text of an event stream, given in any pieces. */
export class EventStreamParser {
  #rest = "";
  #isAfterReturn = false;
  #isAtStart = true;
  #data = [];
  #type = "";
  /** The id of the event that is being read; null without one. */
  #id = null;
  /** The last id of a complete event, or of a frame without one; kept over events without an id. */
  lastEventID = "";

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
        this.lastEventID = this.#id ?? this.lastEventID;
        if (this.#data.length > 0) {
          events.push({ type: this.#type || "message", data: this.#data.join("\n"), lastEventID: this.lastEventID });
        }
        this.#data = [];
        this.#type = "";
        this.#id = null;
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
    else if (name === "id" && !value.includes("\0")) this.#id = value;
  }
}

/**
 * Reads a stream until it ends.
 *
 * `onBytes` is called for each piece, `onEvents` for each piece that completes events. Throws a problem if the
 * response is no event stream, and what fetch throws.
 */
export async function readEventStream(url, { headers, signal, parser, onOpen, onBytes, onEvents }) {
  const response = await fetch(url, {
    headers: { ...headers, Accept: "text/event-stream" }, signal, cache: "no-store", credentials: "same-origin",
  });
  if (!response.ok || !(response.headers.get("Content-Type") || "").startsWith("text/event-stream")) throw await problemOf(response);
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
