// A table whose rows are replaced.

import { fill, h } from "../common/dom.js";

/** Moves the keyboard to a link in an element. */
export function focusLink(element, href) {
  [...element.querySelectorAll("a")].find((each) => each.getAttribute("href") === href)?.focus({ preventScroll: true });
}

export function columnTitles(columns) {
  return h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name))));
}

export class Table {
  body = h("tbody");
  element;

  /** `title` is the id of the element that names the table. */
  constructor(title, columns) {
    // A table that is wider than the page scrolls in its frame, also by the keyboard.
    this.element = h("div", { class: "table-frame", tabindex: "0", role: "group", "aria-labelledby": title },
      h("table", { class: "stacked" }, columnTitles(columns), this.body));
  }

  /** Replaces the rows without taking the keyboard away from a link in them; hides the table without rows. */
  show(rows) {
    const link = this.body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    fill(this.body, rows);
    if (link !== null) focusLink(this.body, link);
    this.element.hidden = rows.length === 0;
  }
}
