// The dialog that asks for a token.

import { button, fill, h } from "./dom.js";
import { hasToken, useToken } from "./preferences.js";
import { text } from "./words.js";

/** Asks for a token in a dialog element; `problem` is the response that demanded one, or null. */
export function askForToken(dialog, problem) {
  if (dialog.open) return;
  const isExposed = location.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const input = h("input", { type: "password", autocomplete: "off", required: true, autofocus: true });
  // What was copied may have spaces, or signs that are not shown; a header field cannot have them (RFC 6750, section 2.1).
  const entered = () => input.value.replace(/[^\x21-\x7e]/g, "");
  const scope = problem?.scope ?? "read";
  const isKnown = hasToken();
  // A service that has not received a token says no more than the sentence above it.
  const detail = problem && isKnown ? problem.detail : null;
  fill(dialog, h("h2", {}, text("token")),
    problem ? h("p", {}, text("tokenNeeded", { scope })) : null,
    detail ? h("p", { class: "problem wrap", lang: "en" }, `${problem.status} ${detail}`) : null,
    h("p", {}, text("tokenHint")), h("pre", { tabindex: "0" }, h("code", {}, `reachd token create --scope ${scope}`)),
    isExposed ? h("p", { class: "problem" }, text("tokenPlain")) : null,
    h("form", { onsubmit: (event) => { event.preventDefault(); if (entered() !== "") useToken(entered()); } },
      h("label", {}, text("token"), input),
      h("button", { type: "submit" }, text("tokenUse")),
      isKnown ? button(text("tokenForget"), () => useToken(null)) : null,
      button(text("close"), () => dialog.close())),
    problem?.requestID ? h("p", { class: "muted small" }, text("requestID", { id: problem.requestID })) : null);
  dialog.showModal();
}
