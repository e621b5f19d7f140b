// The keys that work wherever the keyboard is on a page.

/** Calls the entry of `keys` for its key, unless it returns false, and `escape` for Escape; no entry while the reader types. */
export function listenForKeys(keys, escape) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "Escape") {
      if (isTyping) event.target.blur(); else escape();
    } else if (!isTyping && Object.hasOwn(keys, event.key) && keys[event.key](event) !== false) {
      event.preventDefault();
    }
  });
}
