// What the reader can do with a target, and what came of it.

import { copyButton } from "../common/copy.js";
import { button, h } from "../common/dom.js";
import { problemLine } from "../common/problem.js";
import { text } from "../common/words.js";
import { checkLine } from "./sections.js";

export class TargetActions {
  #client;
  #handler;
  #isBusy = false;
  /** The result of the check that the reader has started. */
  #checked = null;
  /** Counts the targets that were shown: the result of an action on another one is ignored. */
  #shown = 0;
  /** Why a request about the target was refused. */
  problem = null;

  /** `handler` has `render()`, `load()`, and `onDenied(problem)` for a reader who wants to enter a token. */
  constructor(client, handler) {
    this.#client = client;
    this.#handler = handler;
  }

  /** Another target is shown. */
  forget() {
    this.#shown += 1;
    this.problem = this.#checked = null;
    this.#isBusy = false;
  }

  element(id, isPaused) {
    const path = `targets/${encodeURIComponent(id)}`;
    const action = (key, label, name, isEnabled = true) =>
      button(label, () => { if (!this.#isBusy) this.#act(`${path}/${name}`, name); },
        { "data-key": key, disabled: !isEnabled, "aria-disabled": this.#isBusy ? "true" : null });
    return h("div", { class: "actions" }, action("check", text("checkNow"), "check", !isPaused),
      isPaused ? action("pause", text("resume"), "resume") : action("pause", text("pause"), "pause"),
      h("a", { class: "button", href: path, "data-key": "json" }, text("json")),
      copyButton(() => location.href, text("copyLink"), { "data-key": "link" }),
      this.#checked ? checkLine(this.#checked) : null, this.refusal());
  }

  refusal() { return this.problem ? problemLine(this.problem, this.#handler.onDenied) : null; }

  async #act(path, name) {
    const shown = this.#shown;
    this.#isBusy = true;
    this.problem = this.#checked = null;
    this.#handler.render();
    let problem = null;
    let result = null;
    try {
      result = await this.#client.json("POST", path);
    } catch (thrown) {
      problem = thrown;
    }
    if (shown !== this.#shown) return;
    this.problem = problem;
    this.#checked = name === "check" ? result?.lastCheck ?? null : null;
    this.#isBusy = false;
    this.#handler.render();
    await this.#handler.load();
  }
}
