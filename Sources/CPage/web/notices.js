// What the pages show in place of data: the state of the connection, the page of another version of the service, and the
// first steps of a service without targets.

import { clock, h, setAttribute, setText } from "./dom.js";
import { askForToken } from "./preferences.js";
import { text } from "./words.js";

/** After this time in ms, the page says that it still waits. */
const SLOW = 2000;

/** The text and the button below the header while the page has no connection. */
export class Banner {
  // Only the text is announced: the countdown changes every second.
  #text = h("span", { role: "alert" });
  #countdown = h("span");
  #button = h("button", { type: "button", onclick: () => this.#action?.() });
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

  #show(message, countdown = "", button = null, action = null) {
    setText(this.#text, message);
    setText(this.#countdown, countdown);
    setText(this.#button, button ? text(button) : "");
    setAttribute(this.#button, "hidden", button ? null : "");
    this.#action = action;
  }
}

/** Loads the page of another version of the service, which does not serve the files of this page any more. */
export async function reloadAfterUpgrade(base, build) {
  try {
    const response = await fetch(base, { headers: { Accept: "text/html" }, cache: "no-cache" });
    const present = /data-build="([0-9a-f]+)"/.exec(await response.text())?.[1];
    if (response.ok && present && present !== build) location.reload();
  } catch { /* The connection reports its own failures. */ }
}

/** Commands that register the first target of the service at a URL. */
export function firstSteps(base) {
  // Browsers have no clipboard on plain HTTP, except for this host.
  const copy = (code) => !navigator.clipboard ? null : h("button", { type: "button", onclick: async ({ currentTarget }) => {
    try {
      await navigator.clipboard.writeText(code);
      setText(currentTarget, text("copied"));
    } catch { /* The browser has refused it; the text can be selected. */ }
  } }, text("copy"));
  const sample = (title, code) => [h("p", {}, text(title)), h("pre", { tabindex: "0" }, h("code", {}, code)), copy(code)];
  return [h("h2", {}, text("noTargets")),
    sample("yaml", "targets:\n  - id: db\n    target: tcp://db:5432\n    interval: 10s"),
    sample("curl", `curl -X PUT ${base}targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432", "interval": "10s"}'`),
    sample("command", "reachd check tcp://db:5432")].flat();
}
