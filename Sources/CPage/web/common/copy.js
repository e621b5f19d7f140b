// A button that copies a text.

import { button, setText } from "./dom.js";
import { text } from "./words.js";

/** Copies `content()`; nothing where browsers have no clipboard: on plain HTTP, except for this host. */
export function copyButton(content, label = text("copy"), attributes = {}) {
  return !navigator.clipboard ? null : button(label, async ({ currentTarget }) => {
    try {
      await navigator.clipboard.writeText(content());
      setText(currentTarget, text("copied"));
    } catch { /* The browser has refused it; the text can be selected. */ }
  }, attributes);
}
