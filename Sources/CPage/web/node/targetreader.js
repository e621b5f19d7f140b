// Reads the documents about one target.

import { now } from "../common/format.js";
import { barsOf, outagesOf } from "./outages.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The windows of the charts: the step of /latency with its number, the step of the bars, and the time in ms. */
export const WINDOWS = {
  "1h": { step: "1m", slots: 60, bar: "1m", barLength: 60_000, span: HOUR },
  "24h": { step: "1h", slots: 24, bar: "30m", barLength: HOUR / 2, span: DAY },
  "7d": { step: "1h", slots: 168, bar: "3h", barLength: 3 * HOUR, span: 7 * DAY },
  "90d": { step: "1d", slots: 90, bar: "1d", barLength: DAY, span: 90 * DAY },
};
/** How long before an outage a change of the machine is shown with it, in ms. */
const BEFORE = 60_000;
/** The outages that are shown, and the entries of the history that are read for them. */
export const OUTAGE_LIMIT = 20;
const HISTORY_LIMIT = 200;
const MACHINE_LIMIT = 1000;

/** The months whose uptime is shown: the present one up to now, and the one before, which is over. */
export function months(time) {
  const date = new Date(time);
  const begin = new Date(date.getFullYear(), date.getMonth(), 1).getTime();
  const last = new Date(date.getFullYear(), date.getMonth() - 1, 1);
  return {
    present: `${Math.max(60, Math.floor((time - begin) / 1000))}s`,
    last: `${last.getFullYear()}-${String(last.getMonth() + 1).padStart(2, "0")}`,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC",
  };
}

export class TargetReader {
  #client;
  /** The number of the last reading: a response to an older one is ignored. */
  #reading = 0;
  /** The uptimes of the months, by id: they change slowly. */
  #months = { id: null, values: null };

  constructor(client) { this.#client = client; }

  /** Ignores the responses to the present reading. */
  cancel() { this.#reading += 1; }

  /**
   * Reads a target: `{document, diagnosis, points, history, outages, uptime, bars, months, series}`, or `{problem}` if the
   * target itself was refused. Returns null if another reading has begun meanwhile. Documents that the service does not have
   * are null.
   */
  async read(id, window, hasHistory) {
    this.#reading += 1;
    const reading = this.#reading;
    const path = `targets/${encodeURIComponent(id)}`;
    const { step, bar } = WINDOWS[window];
    const read = (name) => this.#client.json("GET", `${path}${name}`).catch((problem) => ({ problem }));
    const document = await read("");
    if (reading !== this.#reading) return null;
    if (document.problem) return { problem: document.problem };
    const past = (name) => hasHistory ? read(name) : {};
    const [diagnosis, latency, history, uptime, series, monthly] = await Promise.all([
      // A paused target has no diagnosis.
      document.paused ? null : read("/explain"),
      past(`/latency?step=${step}&window=${window}`), past(`/history?limit=${HISTORY_LIMIT}&order=desc`),
      past(`/uptime?window=${window}&step=${bar}`),
      hasHistory ? this.#client.json("GET", `targets/overview?series=all&id=${encodeURIComponent(id)}`).catch(() => null) : null,
      hasHistory ? this.#readMonths(id, past) : null,
    ]);
    const outages = history.history ? await this.#outages(history.history) : null;
    if (reading !== this.#reading) return null;
    return {
      document, diagnosis, series, points: latency.steps ?? null, history: history.history ?? null, outages, months: monthly,
      uptime: uptime.availability === undefined ? null : uptime, bars: uptime.steps ? barsOf(uptime.steps) : null,
    };
  }

  /** The outages with what changed in the machine before them. */
  async #outages(history) {
    const plain = outagesOf(history);
    const shown = plain.slice(0, OUTAGE_LIMIT);
    if (shown.length === 0) return plain;
    const time = (milliseconds) => encodeURIComponent(new Date(milliseconds).toISOString());
    const path = `history?types=status,path,interface&limit=${MACHINE_LIMIT}`
      + `&since=${time(shown.at(-1).start - BEFORE)}&until=${time(shown[0].start + 1)}`;
    const machine = await this.#client.json("GET", path).catch(() => ({ history: [] }));
    return outagesOf(history, machine.history);
  }

  async #readMonths(id, past) {
    if (this.#months.id === id) return this.#months.values;
    const { present, last, zone } = months(now());
    const [whole, begun] = await Promise.all([
      past(`/uptime?window=${last}&timeZone=${encodeURIComponent(zone)}`), past(`/uptime?window=${present}`),
    ]);
    const values = { present: begun.availability ?? null, last: whole.availability ?? null, name: last };
    this.#months = { id, values };
    return values;
  }
}
