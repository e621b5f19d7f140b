// What the pages remember in the browser: language, theme, and the token of this tab.

import { forgetColours, setAttribute } from "./dom.js";
import { selectLanguage } from "./words.js";

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

/** Stores the other language, and loads the page again in it. */
export function switchLanguage(language) {
  stored("localStorage", "language", language === "zh" ? "en" : "zh");
  location.reload();
}

export function useStoredTheme() { setTheme(stored("localStorage", "theme") || "auto"); }

export function nextTheme() {
  const now = document.documentElement.dataset.theme || "auto";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

function setTheme(theme) {
  setAttribute(document.documentElement, "data-theme", theme === "auto" ? null : theme);
  stored("localStorage", "theme", theme === "auto" ? null : theme);
  forgetColours();
}

/** The token, or null; one in the fragment of the URL (`#token=…`) is stored and removed from the address bar. */
export function takeToken() {
  storeTokenOfLink();
  // A link that is opened in the tab of this page does not load it again.
  addEventListener("hashchange", () => { if (storeTokenOfLink()) location.reload(); });
  return stored("sessionStorage", "token");
}

export function hasToken() { return stored("sessionStorage", "token") !== null; }

/** Stores a token, or forgets the present one for null, and loads the page again. */
export function useToken(token) {
  stored("sessionStorage", "token", token);
  location.reload();
}

function storeTokenOfLink() {
  const fragment = /^#token=([A-Za-z0-9_.~+/=-]+)$/.exec(location.hash);
  if (fragment) {
    stored("sessionStorage", "token", fragment[1]);
    history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  }
  return fragment !== null;
}
