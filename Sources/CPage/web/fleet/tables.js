// The tables of the targets: the problems, and all of them, or those that the filter selects.

import { button, h, setText } from "../common/dom.js";
import { BASE } from "../common/frame.js";
import { text } from "../common/words.js";
import { PROBLEMS } from "./headline.js";
import { targetRow } from "./rows.js";
import { Table } from "./table.js";
import { fleetText } from "./words.js";

/** The problems above the matrix, and the rows of the other table; the search finds the others. */
const PROBLEM_LIMIT = 20;
const ROW_LIMIT = 200;

export class TargetTables {
  #model;
  #moreProblems;
  #note = h("p", { class: "muted small" });
  #noTargets = h("div", { class: "empty", hidden: true }, h("p", {}, fleetText("noTargets")), h("pre", { tabindex: "0" }, h("code", {},
    `curl -X PUT ${BASE}fleet/targets/db \\\n  -H 'Content-Type: application/json' \\\n  -d '{"target": "tcp://db:5432"}'`)));
  #failing;
  #all;
  problems;
  targets;

  /** `onStates` is called with verdicts whose targets the reader wants to see. */
  constructor(model, onStates) {
    this.#model = model;
    const columns = [fleetText("verdict"), text("target"), text("forTitle"), fleetText("votes"), text("reason")];
    this.#failing = new Table("problems-title", columns);
    this.#all = new Table("targets-title", columns);
    this.#moreProblems = button("", () => onStates(PROBLEMS), { class: "more", hidden: true });
    this.problems = h("section", { "aria-labelledby": "problems-title", class: "problems", hidden: true },
      h("h2", { id: "problems-title" }, fleetText("problems")), this.#failing.element, this.#moreProblems);
    this.targets = h("section", { "aria-labelledby": "targets-title", class: "all-targets" }, h("h2", { id: "targets-title" }, text("targets")),
      this.#all.element, this.#note, this.#noTargets);
  }

  /** While the reader searches, what was found takes the place of the problems, before `matrix`. */
  render(filter, matrix) {
    const { targets } = this.#model;
    const isFiltered = filter.text.trim() !== "" || filter.states.size > 0;
    this.#place(isFiltered, matrix);
    const selected = this.#model.select(filter.text, filter.states);
    this.#all.show(selected.slice(0, ROW_LIMIT).map((target) => this.#row(target)));
    const more = selected.length - ROW_LIMIT;
    setText(this.#note,
      selected.length === 0 && targets.size > 0 ? text("noMatch") : more > 0 ? fleetText("more", { count: more }) : "");
    this.#noTargets.hidden = targets.size > 0;
    const problems = isFiltered ? [] : selected.filter(({ verdict }) => PROBLEMS.includes(verdict));
    this.problems.hidden = problems.length === 0;
    this.#failing.show(problems.slice(0, PROBLEM_LIMIT).map((target) => this.#row(target)));
    this.#moreProblems.hidden = problems.length <= PROBLEM_LIMIT;
    setText(this.#moreProblems, fleetText("allProblems", { count: problems.length }));
  }

  #row(target) { return targetRow(target, this.#model.problem(target)); }

  /** Moves the section, so that the order of the document is the one that is seen. */
  #place(isFirst, matrix) {
    const precedes = (this.targets.compareDocumentPosition(matrix) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    if (isFirst === precedes) return;
    if (isFirst) matrix.before(this.targets); else matrix.after(this.targets);
  }
}
