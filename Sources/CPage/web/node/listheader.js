// The titles of the columns of the list of targets.

import { h } from "../common/dom.js";
import { text } from "../common/words.js";

function title(name, ...content) { return h("span", { class: `cell ${name}`, role: "columnheader" }, ...content); }

/** A row of titles that stays at the top of the list. */
export function listHeader() {
  return h("div", { class: "row titles", role: "row", "aria-rowindex": "1" },
    title("state", text("state")), title("id", text("target")), title("for", text("forTitle")),
    title("chart", h("span", {}, text("lastHour")), h("span", {}, text("day"))),
    title("share", text("availability")), title("note", text("latencyOrReason")));
}
