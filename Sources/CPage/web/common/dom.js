// Elements, canvases and formats that every view uses. No function here takes HTML: text is always a text node.

/** Creates an element: `h("button", {class: "x", onclick}, "text", child)`. Attributes that are null are left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...shown(children));
  return element;
}

/** Creates a button that submits nothing. */
export function button(label, onclick, attributes = {}) { return h("button", { type: "button", onclick, ...attributes }, label); }

/** The children without those that are left out. */
function shown(children) { return children.flat().filter((child) => child !== null && child !== undefined && child !== false); }

export function fill(element, ...children) {
  element.replaceChildren(...shown(children));
}

/** Sets the text of an element only if it has changed, so that the browser lays out nothing for equal text. */
export function setText(element, text) {
  const node = element.firstChild;
  if (node?.nodeType !== Node.TEXT_NODE || node.nextSibling) {
    if (element.textContent !== text) element.textContent = text;
  } else if (node.data !== text) {
    node.data = text;
  }
}

/** Sets or removes an attribute only if it has changed. */
export function setAttribute(element, name, value) {
  if (value === null || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, String(value));
  }
}

/** Prepares a canvas for drawing in CSS pixels at the screen's resolution; returns its context. */
export function prepareCanvas(canvas, width, height) {
  const scale = Math.min(3, globalThis.devicePixelRatio || 1);
  const pixels = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
    [canvas.width, canvas.height] = pixels;
  }
  // Without this, each canvas is a layer of its own, which each frame pays for.
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

let palette = null;

/** The colours of the current scheme, by the names of the custom properties in page.css. */
export function colours() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  palette = {};
  for (const name of ["text", "muted", "line", "up", "down", "unreachable", "unknown", "paused", "pending", "panel", "background"]) {
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return palette;
}

/** Reads the colours again, after the scheme has changed. */
export function forgetColours() { palette = null; }
