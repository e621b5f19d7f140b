// Numbers and times as text, and the time of the service.

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

/** A duration in a narrow column: `2 d 4 h`, `20 h`, `5 min`, `9 s`. */
export function shortDuration(milliseconds, units) {
  const text = duration(milliseconds, units);
  return milliseconds < 86_400_000 ? text.split(" ")[0] : text;
}

/** The time zone of the reader, with its difference to UTC: `Europe/Berlin (UTC+2)`. */
export function timeZone(time = now()) {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  const minutes = -new Date(time).getTimezoneOffset();
  const rest = Math.abs(minutes) % 60;
  const offset = `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${rest > 0 ? `:${rest}` : ""}`;
  return name === "" || name === "UTC" ? "UTC" : `${name} (${offset})`;
}

/** The whole local time with its zone, which shortened times have as their hint. */
export function fullTime(time) {
  const date = new Date(time);
  const two = (number) => String(number).padStart(2, "0");
  return `${clock(time, false, true)} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${timeZone(time)}`;
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
