// This machine's verdict, its paths and interfaces.

import { fill, h, setText } from "../common/dom.js";
import { duration, now } from "../common/format.js";
import { GLYPHS, joined, text, units, word } from "../common/words.js";
import { badge, interfaceState, isUsable, machineState } from "./states.js";

/** The interfaces that are shown without a click: a host of containers has hundreds. */
const INTERFACE_LIMIT = 8;

/** The interfaces, those of the paths first, then those that are down. */
function sortedInterfaces(model) {
  const paths = ["ipv4", "ipv6"].map((family) => model.machine[family]?.interface);
  const rank = (item) => paths.includes(item.name) ? 0 : item.type === "loopback" ? 3 : isUsable(item) ? 2 : 1;
  return [...model.interfaces.values()].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
}

export class Summary {
  #since = h("span", { class: "muted" });
  #machine = null;
  #shown = -1;
  #isExpanded = false;
  element = h("section", { class: "summary", "aria-labelledby": "verdict" });

  render(model) {
    if (model.machineChanges === this.#shown) return;
    this.#shown = model.machineChanges;
    const machine = model.machine;
    this.#machine = machine;
    if (!machine) { fill(this.element); return; }
    const hasFocus = document.activeElement?.dataset.key === "more" && this.element.contains(document.activeElement);
    const hint = word("machineHints", machine.status);
    const status = h("h1", { id: "verdict", class: `verdict state ${machineState(machine.status)}`, title: hint },
      h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[machineState(machine.status)]),
      ` ${word("machine", machine.status)}`);
    const details = joined([word("connectionTypes", machine.connectionType), word("reasons", machine.reason)]);
    const items = sortedInterfaces(model);
    fill(this.element,
      h("div", { class: "verdict-line" }, status, h("span", { class: "detail" }, details), this.#since,
        machine.status === "reachable" ? null : h("p", { class: "explanation" }, hint, " ", this.#explanation(machine, items))),
      h("dl", { class: "paths" }, ["ipv4", "ipv6"].flatMap((family) => this.#path(family, machine[family], machine.status))),
      h("ul", { class: "interfaces", "aria-label": text("interfaces") },
        items.slice(0, this.#isExpanded ? items.length : INTERFACE_LIMIT)
          .map((item) => this.#interface(item, machine.status === "notReachable")),
        items.length <= INTERFACE_LIMIT ? null : h("li", {}, h("button", {
          type: "button", class: "more", "data-key": "more", "aria-expanded": String(this.#isExpanded),
          onclick: () => { this.#isExpanded = !this.#isExpanded; this.#shown = -1; this.render(model); },
        }, this.#isExpanded ? text("fewerInterfaces") : text("moreInterfaces", { count: items.length - INTERFACE_LIMIT })))));
    if (hasFocus) this.element.querySelector("[data-key=more]")?.focus();
    this.tick();
  }

  /** Why this machine has no path, as far as its links explain it. */
  #explanation(machine, items) {
    if (machine.status !== "notReachable") return "";
    const down = items.filter((item) => item.type !== "loopback" && !isUsable(item)).slice(0, INTERFACE_LIMIT)
      .map((item) => `${item.name} (${interfaceState(item)})`);
    if (down.length > 0) return text("links", { names: joined(down) });
    return machine.reason === "noRoute" ? text("noDefaultRoute") : "";
  }

  /** Updates what depends on the time only. */
  tick() {
    if (!this.#machine?.since) { setText(this.#since, ""); return; }
    setText(this.#since, text("since", { duration: duration(now() - Date.parse(this.#machine.since), units()) }));
  }

  #path(family, path, status) {
    const name = family === "ipv4" ? "IPv4" : "IPv6";
    const parts = path.status === "reachable"
      ? [path.interface, path.gateway ? text("via", { gateway: path.gateway }) : text("direct")]
      : [path.interface, word("reasons", path.reason)];
    // A family that is not used here is no alarm while the other one has a path.
    const state = status === "reachable" && path.status !== "reachable" ? "muted" : machineState(path.status);
    return [h("dt", {}, name),
      h("dd", {}, badge(state, word("machine", path.status), null, machineState(path.status)), " ",
        h("span", { class: "mono" }, parts.filter(Boolean).join(" ")))];
  }

  #interface(item, isWanted) {
    const isUp = isUsable(item);
    // A link that is down may be why this machine is not reachable, also one that was disabled.
    const colour = isUp ? "" : item.isUp || isWanted ? "state unreachable" : "muted";
    return h("li", { class: `interface ${colour}`, title: (item.addresses || []).join("\n") || null },
      h("span", { class: "mono" }, item.name), ` ${isUp ? "▲" : "▽"} `, h("span", { class: "small" }, interfaceState(item)));
  }
}
