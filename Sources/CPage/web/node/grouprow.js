// One row of the list that stands for the targets of a label's value.

import { h, setAttribute, setText } from "../common/dom.js";
import { GLYPHS, text, word } from "../common/words.js";

export class GroupRow {
  static #count = 0;
  #toggle = h("button", { type: "button", tabindex: "-1", class: "fold" });
  #value = h("strong", {});
  #counts = h("span", { class: "counts" });
  index = -1;
  line = null;
  element = h("div", { class: "row group", role: "row", id: `group-${GroupRow.#count += 1}` },
    h("span", { class: "cell", role: "gridcell", "aria-colspan": "6" }, this.#toggle, " ", this.#value, " ", this.#counts));

  draw(line) {
    this.line = line;
    this.element.dataset.key = line.key;
    setText(this.#toggle, line.isFolded ? "▸" : "▾");
    setAttribute(this.#toggle, "aria-expanded", String(!line.isFolded));
    const value = line.value === "" ? text("noValue") : line.value;
    setAttribute(this.#toggle, "aria-label", value);
    setText(this.#value, value);
    this.#counts.replaceChildren(...Object.entries(line.counts).filter(([, count]) => count > 0).map(([state, count]) =>
      h("span", { class: `state ${state}` }, h("span", { "aria-hidden": "true" }, `${GLYPHS[state]} `), `${count} ${word("states", state)}`)));
  }

  tick() { /* Counts do not depend on the time. */ }
}
