// What the pages of a node and of a fleet remember in the browser: language, theme, the token of this tab, and in the URL
// what is shown.

import { fill, forgetColours, h, setAttribute } from "./dom.js";
import { selectLanguage, text } from "./words.js";

const THEMES = ["auto", "light", "dark"];

/** Storage that a browser may refuse. */
function stored(storage, name, value) {
  try {
    if (value === undefined) return globalThis[storage].getItem(name);
    if (value === null) globalThis[storage].removeItem(name); else globalThis[storage].setItem(name, value);
  } catch { /* The choice is forgotten when the page closes. */ }
  return null;
}

/** Selects the language of the words and of the document; returns "en" or "zh". */
export function useStoredLanguage() {
  const language = selectLanguage(stored("localStorage", "language"), navigator.languages);
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  return language;
}

/** A button in the header of a page. */
export function headerButton(label, content, onclick, attributes = {}) {
  return h("button", { type: "button", title: label, "aria-label": label, onclick, ...attributes }, content);
}

/** The buttons of both pages; `language` is the present one, `recolour` draws again after a change of the theme. */
export function headerButtons(language, { recolour, help, access }) {
  return [
    headerButton(text("language"), language === "zh" ? "EN" : "中文", () => {
      stored("localStorage", "language", language === "zh" ? "en" : "zh");
      location.reload();
    }, { lang: language === "zh" ? "en" : "zh-Hans" }),
    themeButton(recolour),
    headerButton(text("keys"), "?", () => help.showModal()),
    headerButton(text("token"), text("access"), () => askForToken(access, null)),
  ];
}

function themeButton(recolour) {
  const button = headerButton("", "◐", () => { nextTheme(); name(); recolour(); });
  const name = () => {
    const theme = document.documentElement.dataset.theme || "auto";
    const label = text("themeIs", { theme: text({ auto: "themeAuto", light: "themeLight", dark: "themeDark" }[theme]) });
    for (const attribute of ["title", "aria-label"]) setAttribute(button, attribute, label);
  };
  name();
  return button;
}

export function useStoredTheme() { setTheme(stored("localStorage", "theme") || "auto"); }

function nextTheme() {
  const now = document.documentElement.dataset.theme || "auto";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

function setTheme(theme) {
  setAttribute(document.documentElement, "data-theme", theme === "auto" ? null : theme);
  stored("localStorage", "theme", theme === "auto" ? null : theme);
  forgetColours();
}

/**
 * What the fragment of the URL names: `{id}` of `#/target/id`, else `{search, states}` of `#/?q=text&state=down,unknown`;
 * `known` are the states that there are.
 */
export function readRoute(known) {
  const target = /^#\/target\/(.+)$/.exec(location.hash);
  if (target) {
    try { return { id: decodeURIComponent(target[1]) }; } catch { return { id: target[1] }; }
  }
  const query = new URLSearchParams(/^#\/\?(.*)$/.exec(location.hash)?.[1] ?? "");
  const states = (query.get("state") ?? "").split(",").filter((state) => known.includes(state));
  return { id: null, search: query.get("q") ?? "", states: new Set(states) };
}

/** The fragment of an open target. */
export function targetRoute(id) { return `#/target/${encodeURIComponent(id)}`; }

/** The fragment of the list with a search and selected states. */
export function listRoute(search, states = new Set()) {
  const query = new URLSearchParams();
  if (search !== "") query.set("q", search);
  if (states.size > 0) query.set("state", [...states].join(","));
  return query.size > 0 ? `#/?${query}` : "#/";
}

/** The token, or null; one in the fragment of the URL (`#token=…`) is stored and removed from the address bar. */
export function takeToken() {
  storeTokenOfLink();
  // A link that is opened in the tab of this page does not load it again.
  addEventListener("hashchange", () => { if (storeTokenOfLink()) location.reload(); });
  return stored("sessionStorage", "token");
}

function storeTokenOfLink() {
  const fragment = /^#token=([A-Za-z0-9_.~+/=-]+)$/.exec(location.hash);
  if (fragment) {
    stored("sessionStorage", "token", fragment[1]);
    history.replaceState(null, "", `${location.pathname}#/`);
  }
  return fragment !== null;
}

/** Asks for a token in a dialog element; `problem` is the response that demanded one, or null. */
export function askForToken(dialog, problem) {
  if (dialog.open) return;
  const isExposed = location.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const input = h("input", { type: "password", autocomplete: "off", required: true, autofocus: true });
  // What was copied may have spaces, or signs that are not shown; a header field cannot have them (RFC 6750, section 2.1).
  const entered = () => input.value.replace(/[^\x21-\x7e]/g, "");
  const use = (value) => { stored("sessionStorage", "token", value); location.reload(); };
  const scope = problem?.scope ?? "read";
  const hasToken = stored("sessionStorage", "token") !== null;
  // A service that has not received a token says no more than the sentence above it.
  const detail = problem && hasToken ? problem.detail : null;
  fill(dialog, h("h2", {}, text("token")),
    problem ? h("p", {}, text("tokenNeeded", { scope })) : null,
    detail ? h("p", { class: "problem wrap", lang: "en" }, `${problem.status} ${detail}`) : null,
    h("p", {}, text("tokenHint")), h("pre", { tabindex: "0" }, h("code", {}, `reachd token create --scope ${scope}`)),
    isExposed ? h("p", { class: "problem" }, text("tokenPlain")) : null,
    h("form", { onsubmit: (event) => { event.preventDefault(); if (entered() !== "") use(entered()); } },
      h("label", {}, text("token"), input),
      h("button", { type: "submit" }, text("tokenUse")),
      hasToken ? h("button", { type: "button", onclick: () => use(null) }, text("tokenForget")) : null,
      h("button", { type: "button", onclick: () => dialog.close() }, text("close"))),
    problem?.requestID ? h("p", { class: "muted small" }, text("requestID", { id: problem.requestID })) : null);
  dialog.showModal();
}
