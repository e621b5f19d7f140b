// The search field with its suggestions, the chips of the states, and a choice of a label to group by.

import { fill, h, setAttribute, setText } from "./dom.js";
import { completions } from "./search.js";

export class FilterBar {
  #chips = new Map();
  #onChange;
  #labels;
  #suggestions = h("datalist", { id: "suggestions" });
  #grouping;
  /** The values of the label that groups, whose targets are folded. */
  folded = new Set();
  states = new Set();
  search;
  element;

  /**
   * `chips` are `{state, glyph, label, title}`; `labels()` are the values of the labels by name, for suggestions; `grouping`
   * is `{label, none}`, or null for a page without groups; `onChange` is called after the reader has changed the filter.
   */
  constructor(chips, { title, placeholder, count, labels, grouping = null, onChange }) {
    this.#onChange = onChange;
    this.#labels = labels;
    this.search = h("input", {
      type: "search", placeholder, "aria-label": placeholder, autocomplete: "off", spellcheck: "false", list: "suggestions",
      oninput: () => { this.#suggest(); onChange(); },
    });
    for (const { state, glyph, label, title: hint } of chips) {
      const number = h("span", { class: "count" }, count);
      const button = h("button", {
        type: "button", class: `chip ${state}`, "aria-pressed": "false", title: hint, onclick: () => this.#toggle(state),
      }, h("span", { class: "glyph", "aria-hidden": "true" }, glyph), " ", number, h("span", { class: "label" }, ` ${label}`));
      this.#chips.set(state, { button, number });
    }
    this.#grouping = grouping && h("select", {
      "aria-label": grouping.label, title: grouping.label, class: "grouping", hidden: true, onchange: () => { this.folded = new Set(); onChange(); },
    }, h("option", { value: "" }, grouping.none));
    this.element = h("div", { class: "tools" }, this.search, this.#suggestions,
      h("div", { class: "chips", role: "group", "aria-label": title }, [...this.#chips.values()].map(({ button }) => button)),
      this.#grouping);
  }

  get text() { return this.search.value; }
  get group() { return this.#grouping?.value ?? ""; }

  /** The part of a view that the filter has, as of route.js. */
  get view() { return { search: this.text, states: this.states, group: this.group, folded: this.folded }; }

  read({ search, states, group, folded }) {
    this.search.value = search;
    this.states = states;
    this.folded = folded;
    if (this.#grouping) {
      this.setGroups([...this.#labels().keys()], group);
      this.#grouping.value = group;
    }
    this.#showStates();
  }

  /** The labels by which the list can be grouped; `kept` stays one of them, because the URL may name it before targets are known. */
  setGroups(names, kept = this.group) {
    const all = kept === "" || names.includes(kept) ? names : [...names, kept];
    const { options } = this.#grouping;
    if (all.length === options.length - 1 && all.every((name, index) => options[index + 1].value === name)) return;
    fill(this.#grouping, options[0], all.map((name) => h("option", { value: name }, name)));
    this.#grouping.value = kept;
    this.#grouping.hidden = all.length === 0;
  }

  setCount(state, number) { setText(this.#chips.get(state).number, number); }

  toggleFold(value) {
    if (!this.folded.delete(value)) this.folded.add(value);
    this.#onChange();
  }

  #suggest() {
    fill(this.#suggestions, completions(this.text, this.#labels()).map((value) => h("option", { value })));
  }

  #toggle(state) {
    if (!this.states.delete(state)) this.states.add(state);
    this.#showStates();
    this.#onChange();
  }

  #showStates() {
    for (const [state, { button }] of this.#chips) setAttribute(button, "aria-pressed", String(this.states.has(state)));
  }
}
