// The words of the pages in the language of the reader.

import { ZH } from "./chinese.js";
import { EN } from "./english.js";

export const DICTIONARIES = { en: EN, zh: ZH };

/** The glyph of each state: colour is never the only sign. */
export const GLYPHS = { up: "✔", down: "✖", unreachable: "⊘", unknown: "?", paused: "‖", pending: "◔", flapping: "↯" };

let current = EN;

/** Selects the language: a stored choice, else the first of the browser's languages that exists. */
export function selectLanguage(choice, preferred = []) {
  const known = [choice, ...preferred].map((tag) => String(tag || "").toLowerCase().split("-")[0]);
  const name = known.find((tag) => Object.hasOwn(DICTIONARIES, tag)) || "en";
  current = DICTIONARIES[name];
  return name;
}

/** A template in which each `{name}` is replaced by the value of that name. */
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** A text of the page with values. */
export function text(key, values = {}) { return filled(current.page[key] ?? key, values); }

/** A word of a list: state, reason, cause, step. A value that this page does not know is shown as it is. */
export function word(list, value) {
  return value === null || value === undefined ? "" : Object.hasOwn(current[list], value) ? current[list][value] : value;
}

/** The parts that are not empty, as a list. */
export function joined(parts) { return parts.filter(Boolean).join(current.page.separator); }

/** The parts that are not empty, side by side: different things, where a list has the same. */
export function dotted(parts) { return parts.filter(Boolean).join(" · "); }

/** The sentences of the service in the language of the page; null for English, which it writes. */
export function phrases() { return current.phrases ?? null; }

export function units() { return current.units; }
