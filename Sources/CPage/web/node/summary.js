// What the page says first: the problems of the targets, the gates, and this machine with its paths and interfaces.

import { button, fill, h, setText } from "../common/dom.js";
import { duration, now } from "../common/format.js";
import { GLYPHS, joined, text, units, word } from "../common/words.js";
import { headlineOf } from "./headline.js";
import { badge, interfaceState, isUsable, machineState } from "./states.js";

/** The interfaces and gates that are shown without a click: a host of containers has hundreds. */
const INTERFACE_LIMIT = 8;
const GATE_LIMIT = 12;

/** The interfaces, those of the paths first, then those that are down. */
function sortedInterfaces(model) {
  const paths = ["ipv4", "ipv6"].map((family) => model.machine[family]?.interface);
  const rank = (item) => paths.includes(item.name) ? 0 : item.type === "loopback" ? 3 : isUsable(item) ? 2 : 1;
  return [...model.interfaces.values()].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
}

export class Summary {
  #since = h("span", { class: "muted since" });
  #glyph = h("span", { class: "glyph", "aria-hidden": "true" });
  #words = h("span", {});
  #longest = h("span", { class: "longest" });
  #headline = h("h1", { id: "headline", class: "headline state unknown" }, this.#glyph, " ", this.#words, this.#longest);
  #gates = h("ul", { class: "gates", "aria-label": text("gates") });
  #machineLine = h("div", { class: "machine" });
  #machine = null;
  #shown = -1;
  #isExpanded = false;
  element = h("section", { class: "summary", "aria-labelledby": "headline", hidden: true }, this.#headline, this.#gates, this.#machineLine);

  /** Shows the machine and its gates after they have changed. */
  render(model) {
    if (model.machineChanges === this.#shown) return;
    this.#shown = model.machineChanges;
    const machine = model.machine;
    this.#machine = machine;
    this.element.hidden = !machine;
    if (!machine) return;
    this.#fillMachine(model, machine);
    this.#fillGates([...model.gates.values()]);
    this.renderHeadline(model);
    this.tick();
  }

  /** Shows what follows from the states of the targets; returns the headline. */
  renderHeadline(model) {
    const headline = headlineOf(model);
    this.#headline.className = `headline state ${headline.state}`;
    setText(this.#glyph, GLYPHS[headline.state]);
    setText(this.#words, headline.words);
    setText(this.#longest, headline.longest === "" ? "" : ` · ${headline.longest}`);
    return headline;
  }

  #fillMachine(model, machine) {
    const hasFocus = document.activeElement?.dataset.key === "more" && this.element.contains(document.activeElement);
    const items = sortedInterfaces(model);
    const state = machineState(machine.status);
    const hint = word("machineHints", machine.status);
    const details = joined([word("connectionTypes", machine.connectionType), machine.status !== "reachable" && word("reasons", machine.reason)]);
    fill(this.#machineLine,
      h("span", { class: "part" }, h("span", { class: "muted" }, text("thisMachine")), " ",
        h("span", { id: "verdict", class: `state ${state}`, title: hint },
          h("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[state]), ` ${word("machine", machine.status)}`), " ",
        details === "" ? null : h("span", {}, details), " ", this.#since),
      ["ipv4", "ipv6"].map((family) => this.#path(family, machine[family], machine.status)),
      h("ul", { class: "interfaces", "aria-label": text("interfaces") },
        items.slice(0, this.#isExpanded ? items.length : INTERFACE_LIMIT)
          .map((item) => this.#interface(item, machine.status === "notReachable")),
        items.length <= INTERFACE_LIMIT ? null : h("li", {}, button(
          this.#isExpanded ? text("fewerInterfaces") : text("moreInterfaces", { count: items.length - INTERFACE_LIMIT }),
          () => { this.#isExpanded = !this.#isExpanded; this.#shown = -1; this.render(model); },
          { class: "more", "data-key": "more", "aria-expanded": String(this.#isExpanded) }))),
      machine.status === "reachable" ? null : h("p", { class: "explanation" }, hint, " ", this.#explanation(machine, items)));
    if (hasFocus) this.element.querySelector("[data-key=more]")?.focus();
  }

  /** The gates: closed ones first, with the reason. */
  #fillGates(gates) {
    const sorted = gates.sort((one, other) => (one.state === "open") - (other.state === "open") || (one.id < other.id ? -1 : 1));
    const more = sorted.length - GATE_LIMIT;
    fill(this.#gates, sorted.slice(0, GATE_LIMIT).map(({ id, state, reason, missing }) => {
      const isOpen = state === "open";
      const missed = missing?.length > 0 ? `${text("missing")}: ${joined(missing.slice(0, INTERFACE_LIMIT))}` : null;
      return h("li", { class: `gate ${state}`, title: [word("gateReasons", reason), missed].filter(Boolean).join(". ") || null },
        h("span", { class: `state ${isOpen ? "up" : reason === "settling" || reason === "starting" ? "pending" : "down"}` },
          h("span", { class: "glyph", "aria-hidden": "true" }, isOpen ? "◇" : "◆"), ` ${id}`), " ",
        h("span", { class: "muted" }, word("history", state), isOpen || !reason ? "" : ` · ${word("gateReasons", reason)}`));
    }), more > 0 ? h("li", { class: "muted" }, text("moreInterfaces", { count: more })) : null);
    this.#gates.hidden = gates.length === 0;
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
    const isReachable = path.status === "reachable";
    const parts = isReachable
      ? [path.interface, path.gateway ? text("via", { gateway: path.gateway }) : text("direct")]
      : [path.interface, word("reasons", path.reason)];
    // A family that is not used here is no alarm while the other one has a path.
    const state = status === "reachable" && !isReachable ? "muted" : machineState(path.status);
    return h("span", { class: "part" }, h("span", { class: "muted" }, name), " ",
      badge(state, parts.filter(Boolean).join(" "), word("machine", path.status), machineState(path.status)));
  }

  #interface(item, isWanted) {
    const isUp = isUsable(item);
    // A link that is down may be why this machine is not reachable, also one that was disabled.
    const colour = isUp ? "muted" : item.isUp || isWanted ? "state unreachable" : "muted";
    return h("li", { class: `interface ${colour}`, title: (item.addresses || []).join("\n") || null },
      h("span", {}, item.name), ` ${isUp ? "▲" : "▽"} `, interfaceState(item));
  }
}
