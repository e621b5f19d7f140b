// The elements of the visible lines of the list. A row that has left the visible part stands for another line.

import { h, setAttribute } from "../common/dom.js";
import { GroupRow } from "./grouprow.js";
import { TargetRow } from "./row.js";

/** Whether two lines with the same key look the same. */
function isAlike(one, other) {
  return one === other || (one.kind === "target" && one.behind === other.behind && one.isOpen === other.isOpen && one.level === other.level);
}

export class Rows {
  #rows = new Map();
  #free = { target: [], group: [] };
  #draw;
  #onRemoved;
  body = h("div", { class: "rows", role: "rowgroup" });

  /** `draw(row, line)` shows a line in a row, `onRemoved(key)` is called when a line has no row any more. */
  constructor(draw, onRemoved) {
    this.#draw = draw;
    this.#onRemoved = onRemoved;
  }

  get(key) { return this.#rows.get(key); }
  values() { return this.#rows.values(); }

  /** Places rows again, because their height has changed. */
  forgetPlaces() { for (const row of this.#rows.values()) row.index = -1; }

  /** Gives each line a row and takes the rows of others back; `first` is the number of the first line. The rows are in the order in which they are seen. */
  place(lines, first, height) {
    const keys = new Set(lines.map(({ key }) => key));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      this.#rows.delete(key);
      this.#free[row.line.kind].push(row);
      row.element.remove();
      this.#onRemoved(key);
    }
    let next = this.body.firstElementChild;
    lines.forEach((line, number) => {
      const index = first + number;
      const row = this.#rowOf(line);
      if (row.index !== index) {
        row.index = index;
        // Not a transform, which would make the compositor build its layers again in each frame.
        row.element.style.top = `${index * height}px`;
        // The titles are the first row.
        setAttribute(row.element, "aria-rowindex", index + 2);
      }
      if (row.element === next) next = next.nextElementSibling; else this.body.insertBefore(row.element, next);
    });
  }

  #rowOf(line) {
    const known = this.#rows.get(line.key);
    if (known && isAlike(known.line, line)) { known.line = line; return known; }
    const row = known ?? this.#free[line.kind].pop() ?? (line.kind === "group" ? new GroupRow() : new TargetRow());
    if (!known) {
      row.index = -1;
      this.#rows.set(line.key, row);
    }
    row.line = line;
    this.#draw(row, line);
    return row;
  }
}
