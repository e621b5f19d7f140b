// What the pages show below the header while they have no connection.

import { askForToken } from "./access.js";
import { button, h, setAttribute, setText } from "./dom.js";
import { clock } from "./format.js";
import { text } from "./words.js";

/** After this time in ms, the page says that it still waits. */
const SLOW = 2000;

/** The text and the button below the header while the page has no connection. */
export class Banner {
  // Only the text is announced: the countdown changes every second.
  #text = h("span", { role: "alert" });
  #countdown = h("span");
  #button = button("", () => this.#action?.());
  #action = null;
  #dialog;
  /** Whether the dialog for a token has been shown for the present refusal. */
  #hasAsked = false;
  element = h("div", { class: "banner", hidden: true }, this.#text, " ", this.#countdown, " ", this.#button);

  /** `dialog` is the element in which it asks for a token. */
  constructor(dialog) { this.#dialog = dialog; }

  /** Shows a status of the connection; `hasData`: the page shows data of an earlier time; `retry` connects now. */
  render(status, { hasData, retry }) {
    const { state, problem } = status;
    this.element.hidden = state === "live";
    this.element.classList.toggle("connecting", state === "connecting");
    if (state !== "denied") this.#hasAsked = false;
    if (state === "live") { setText(this.#text, ""); return; }
    const host = location.host;
    const seconds = Math.ceil((status.retryAt - Date.now()) / 1000);
    const since = text(status.reason === "silent" ? "silent" : "disconnected", { time: clock(status.since) });
    if (state === "connecting") {
      this.#show(text(Date.now() - status.since > SLOW ? "stillConnecting" : "connecting", { host }));
    } else if (state === "denied") {
      const needed = text("tokenNeeded", { scope: problem?.scope ?? "read" });
      this.#show(`${needed} ${hasData ? since : text("noToken")}`, "", "token", () => askForToken(this.#dialog, problem));
      // Once: a reader who has closed the dialog may want to read.
      if (!this.#hasAsked) { this.#hasAsked = true; askForToken(this.#dialog, problem); }
    } else {
      const refusal = problem ? ` ${problem.status} ${problem.detail}` : "";
      if (seconds > 0) this.#show(since + refusal, text("retryIn", { seconds }), "retryNow", retry);
      else this.#show(since + refusal, text("connecting", { host }));
    }
  }

  #show(message, countdown = "", label = null, action = null) {
    setText(this.#text, message);
    setText(this.#countdown, countdown);
    setText(this.#button, label ? text(label) : "");
    setAttribute(this.#button, "hidden", label ? null : "");
    this.#action = action;
  }
}
