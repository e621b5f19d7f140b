// Elements, canvases and formats that every view uses. No function here takes HTML: text is always a text node.

/** Creates an element: `h("button", {class: "x", onclick}, "text", child)`. Attributes that are null are left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
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
  // The canvas is part of the layer around it: without this, each one is a layer of its own, which each frame pays for.
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
  for (const name of ["text", "muted", "line", "up", "down", "unreachable", "unknown", "paused", "pending", "panel"]) {
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return palette;
}

/** Reads the colours again, after the scheme has changed. */
export function forgetColours() { palette = null; }

let clockOffset = 0;
let frozenAt = null;

/** How far the clock of the service is ahead of that of the browser, in ms: ages and time axes use the service's. */
export function setClockOffset(milliseconds) { clockOffset = milliseconds; }

/** Stops the ages at a time of the browser's clock while the page is disconnected; null lets them continue. */
export function freezeAges(time) { frozenAt = time; }

/** The time of the service, in ms since 1970. */
export function now() { return (frozenAt ?? Date.now()) + clockOffset; }

/** A latency in microseconds as text: `410 µs`, `12.3 ms`, `1.20 s`. The spaces before units do not break lines. */
export function latency(microseconds) {
  if (microseconds === null || microseconds === undefined) return "";
  if (microseconds < 1000) return `${Math.round(microseconds)}\u00a0µs`;
  const milliseconds = microseconds / 1000;
  if (milliseconds < 1000) return `${milliseconds < 100 ? milliseconds.toFixed(1) : Math.round(milliseconds)}\u00a0ms`;
  return `${(milliseconds / 1000).toFixed(2)}\u00a0s`;
}

/** A share in 1/100 % as text, rounded down: 99.999 % is not 100 %. */
export function share(hundredths) {
  if (hundredths === null || hundredths === undefined) return "";
  return hundredths === 10000 ? "100\u00a0%" : `${(Math.floor(hundredths) / 100).toFixed(2)}\u00a0%`;
}

/** A duration in milliseconds with its two largest units: `3 d 4 h`. */
export function duration(milliseconds, units) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [[Math.floor(seconds / 86400), units.d], [Math.floor(seconds / 3600) % 24, units.h],
    [Math.floor(seconds / 60) % 60, units.min], [seconds % 60, units.s]];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return `0\u00a0${units.s}`;
  return parts.slice(first, first + 2).filter(([count], index) => index === 0 || count > 0)
    .map(([count, unit]) => `${count}\u00a0${unit}`).join(" ");
}

/** The local time of day, with the date if it is not today; `isShort`: without seconds; `isDate`: only the date. */
export function clock(time, isShort = false, isDate = false) {
  const date = new Date(time);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  if (isDate) return day;
  const text = `${two(date.getHours())}:${two(date.getMinutes())}${isShort ? "" : `:${two(date.getSeconds())}`}`;
  return new Date(now()).toDateString() === date.toDateString() ? text : `${day} ${text}`;
}

/** Calls `body` now, or when the interval since its last call has passed, however often the returned function is called. */
export function atMostEvery(interval, body) {
  let last = -Infinity;
  let timer = null;
  const run = () => { timer = null; last = performance.now(); body(); };
  return () => {
    if (timer !== null) return;
    const delay = last + interval - performance.now();
    if (delay <= 0) run(); else timer = setTimeout(run, delay);
  };
}

/** Calls `body` at most once per animation frame, however often the returned function is called. */
export function oncePerFrame(body) {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    // A hidden page gets no frames; a timer still updates its title.
    const run = () => { isScheduled = false; body(); };
    if (document.hidden) setTimeout(run, 250); else requestAnimationFrame(run);
  };
}
