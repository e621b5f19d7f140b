// The search field and the chips of the states, which the URL contains too.

import { h, setAttribute, setText } from "./dom.js";
import { listRoute } from "./route.js";

export class FilterBar {
  #chips = new Map();
  #onChange;
  #keepsURL;
  states = new Set();
  search;
  element;

  /**
   * `chips` are `{state, glyph, label, title}`; `keepsURL()` is false while the URL names something else, such as an open
   * target; `onChange` is called after the reader has changed the filter.
   */
  constructor(chips, { title, placeholder, count, keepsURL, onChange }) {
    this.#onChange = onChange;
    this.#keepsURL = keepsURL;
    this.search = h("input", {
      type: "search", placeholder, "aria-label": placeholder, autocomplete: "off", spellcheck: "false",
      oninput: () => this.#changed(),
    });
    for (const { state, glyph, label, title: hint } of chips) {
      const number = h("span", { class: "count" }, count);
      const button = h("button", {
        type: "button", class: `chip ${state}`, "aria-pressed": "false", title: hint, onclick: () => this.#toggle(state),
      }, h("span", { class: "glyph", "aria-hidden": "true" }, glyph), " ", number, h("span", { class: "label" }, ` ${label}`));
      this.#chips.set(state, { button, number });
    }
    this.element = h("div", { class: "tools" }, this.search,
      h("div", { class: "chips", role: "group", "aria-label": title }, [...this.#chips.values()].map(({ button }) => button)));
  }

  get text() { return this.search.value; }

  /** The fragment of the list with the present filter. */
  get route() { return listRoute(this.text, this.states); }

  read({ search, states }) {
    this.search.value = search;
    this.states = states;
    this.#showStates();
  }

  setCount(state, number) { setText(this.#chips.get(state).number, number); }

  #toggle(state) {
    if (!this.states.delete(state)) this.states.add(state);
    this.#showStates();
    this.#changed();
  }

  #changed() {
    // Beside an open target, the filter is in the URL again when the target is closed.
    if (this.#keepsURL()) history.replaceState(null, "", this.route);
    this.#onChange();
  }

  #showStates() {
    for (const [state, { button }] of this.#chips) setAttribute(button, "aria-pressed", String(this.states.has(state)));
  }
}
