// The states of this machine, its interfaces and the targets as words and colours.

import { h } from "../common/dom.js";
import { GLYPHS, text, word } from "../common/words.js";

export function machineState(status) {
  return status === "reachable" ? "up" : status === "notReachable" ? "unreachable" : "unknown";
}

export function badge(state, label, hint = null, glyph = state) {
  return h("span", { class: `state ${state}`, title: hint },
    h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[glyph] || "?"), ` ${label}`);
}

/** Whether an interface can send: one that is enabled may have no carrier. */
export function isUsable(item) {
  return item.isUp && item.operationalState !== "down" && item.operationalState !== "lowerLayerDown";
}

/** Up, without a carrier, or disabled by the administrator. */
export function interfaceState(item) {
  return isUsable(item) ? text("up") : word("history", item.isUp ? "linkDown" : "adminDown");
}
