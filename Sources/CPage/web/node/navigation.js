// The URL of the page: the filter, the groups, the open target and the window of its charts.

import { readRoute, writeRoute } from "../common/route.js";
import { STATES } from "./model.js";

export class Navigation {
  #main;
  #targets;
  #detail;

  constructor({ main, targets, detail }) {
    this.#main = main;
    this.#targets = targets;
    this.#detail = detail;
  }

  /** What is shown, as of route.js. */
  get #view() { return { ...this.#targets.filter.view, id: this.#detail.id, window: this.#detail.window }; }

  /** Writes what is shown into the URL. */
  write() { history.replaceState(null, "", writeRoute(this.#view)); }

  /** Shows what the URL names. */
  read() {
    const { list, filter } = this.#targets;
    const route = readRoute(location.hash, STATES);
    const hadFocus = this.#detail.element.contains(document.activeElement);
    this.#main.classList.toggle("detail-open", route.id !== null);
    this.#detail.show(route.id, route.window);
    // The list is narrower beside the details.
    list.resize();
    // A plain link to a target leaves the list as it is.
    if (route.isPartial) this.write(); else filter.read(route);
    this.#targets.order();
    if (route.id !== null) list.reveal(route.id); else if (hadFocus) list.focus();
  }

  open(id) { location.hash = writeRoute({ ...this.#view, id }); }

  /** Opens a target in place of the one that is open. */
  replace(id) { location.replace(writeRoute({ ...this.#view, id })); }

  close() { location.hash = writeRoute({ ...this.#view, id: null }); }
}
