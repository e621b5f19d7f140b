// What surrounds the content of both pages: header, banner, dialogs, title, and the state of the connection.

import { askForToken } from "./access.js";
import { Banner } from "./banner.js";
import { button, fill, h, setAttribute, setText } from "./dom.js";
import { freezeAges, setClockOffset } from "./format.js";
import { nextTheme, switchLanguage } from "./preferences.js";
import { text } from "./words.js";

const APP = document.getElementById("app");
/** The URL of the service's root. */
export const BASE = new URL(".", location.href).href;
/** The version of the page's files, which is in their URLs. */
export const BUILD = APP.dataset.build;
/** How long a hidden page keeps its stream, in ms. */
const HIDDEN_LIMIT = 30_000;

export class Frame {
  #status = { state: "connecting", since: Date.now() };
  #connection = h("p", { class: "connection", role: "status" });
  #retry;
  #banner;
  #header;
  /** The dialogs for a token and with the keys. */
  access = h("dialog", { class: "dialog" });
  help;

  /**
   * `name` is shown beside that of the program, `keys` is the text of the help, `buttons` are more buttons; `recolour`
   * draws again after a change of the colours, and `retry` connects now.
   */
  constructor(language, { name, keys, buttons = [], recolour, retry }) {
    this.#retry = retry;
    this.#banner = new Banner(this.access);
    this.help = h("dialog", { class: "dialog" }, h("h2", {}, text("keys")),
      h("ul", { class: "keys" }, keys.split(" · ").map((line) => h("li", {}, line))),
      button(text("close"), () => this.help.close()));
    this.#header = h("header", {}, h("strong", { class: "name" }, "reachd"), h("span", { class: "host" }, name),
      this.#connection,
      h("div", { class: "buttons" },
        headerButtons(language, { recolour, help: this.help, access: this.access }), ...buttons));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  }

  get status() { return this.#status; }
  get isLive() { return this.#status.state === "live"; }

  show(...content) { fill(APP, this.#header, this.#banner.element, ...content, this.access, this.help); }

  /** Takes a status of the connection; returns the one before it. */
  follow(status) {
    const old = this.#status;
    this.#status = status;
    if (status.state === "live") {
      setClockOffset(status.clockOffset ?? 0);
      if (old.state === "disconnected") reloadAfterUpgrade();
    }
    freezeAges(status.state === "live" ? null : status.since);
    return old;
  }

  /** Shows the state of the connection; `hasData`: the page shows data of an earlier time while it is disconnected. */
  renderStatus(hasData) {
    const { state } = this.#status;
    document.documentElement.classList.toggle("outdated", !this.isLive && hasData && state !== "connecting");
    setText(this.#connection, this.isLive ? `● ${text("live")}` : state === "connecting" ? "…" : `○ ${text("notLive")}`);
    setAttribute(this.#connection, "class", `connection ${state}`);
    this.#banner.render(this.#status, { hasData, retry: this.#retry });
  }

  renderTitle(title, state) {
    if (document.title !== title) document.title = title;
    setAttribute(document.getElementById("icon"), "href", `page/${BUILD}/state-${state}.svg`);
  }
}

export function headerButton(label, content, onclick, attributes = {}) {
  return button(content, onclick, { title: label, "aria-label": label, ...attributes });
}

/** The buttons of both pages; `language` is the present one, `recolour` draws again after a change of the theme. */
function headerButtons(language, { recolour, help, access }) {
  return [
    headerButton(text("language"), language === "zh" ? "EN" : "中文", () => switchLanguage(language),
      { lang: language === "zh" ? "en" : "zh-Hans" }),
    themeButton(recolour),
    headerButton(text("keys"), "?", () => help.showModal()),
    headerButton(text("token"), text("access"), () => askForToken(access, null)),
  ];
}

function themeButton(recolour) {
  const theme = headerButton("", "◐", () => { nextTheme(); name(); recolour(); });
  const name = () => {
    const key = { auto: "themeAuto", light: "themeLight", dark: "themeDark" }[document.documentElement.dataset.theme || "auto"];
    const label = text("themeIs", { theme: text(key) });
    for (const attribute of ["title", "aria-label"]) setAttribute(theme, attribute, label);
  };
  name();
  return theme;
}

/** Closes the stream of a page that is hidden for long; it is resumed when the page is shown. */
export function stopWhileHidden(stream) {
  let timer = null;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stream.stop(), HIDDEN_LIMIT);
    else stream.start();
  });
}

/** Loads the page of another version of the service, which does not serve the files of this page any more. */
async function reloadAfterUpgrade() {
  try {
    const response = await fetch(BASE, { headers: { Accept: "text/html" }, cache: "no-cache" });
    const present = /data-build="([0-9a-f]+)"/.exec(await response.text())?.[1];
    if (response.ok && present && present !== BUILD) location.reload();
  } catch { /* The connection reports its own failures. */ }
}
