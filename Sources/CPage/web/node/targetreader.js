// Reads the documents about one target.

/** The windows of the plots: the step of /latency, the time in ms, and the number of steps. */
export const WINDOWS = { "1h": ["1m", 3_600_000, 60], "24h": ["1h", 86_400_000, 24], "90d": ["1d", 90 * 86_400_000, 90] };

export class TargetReader {
  #client;
  /** The number of the last reading: a response to an older one is ignored. */
  #reading = 0;

  constructor(client) { this.#client = client; }

  /** Ignores the responses to the present reading. */
  cancel() { this.#reading += 1; }

  /**
   * Reads a target: `{document, diagnosis, points, history, uptime, series}`, or `{problem}` if the target itself was
   * refused. Returns null if another reading has begun meanwhile. Documents that the service does not have are null.
   */
  async read(id, window, hasHistory) {
    this.#reading += 1;
    const reading = this.#reading;
    const path = `targets/${encodeURIComponent(id)}`;
    const step = WINDOWS[window][0];
    const read = (name) => this.#client.json("GET", `${path}${name}`).catch((problem) => ({ problem }));
    const document = await read("");
    if (reading !== this.#reading) return null;
    if (document.problem) return { problem: document.problem };
    const past = (name) => hasHistory ? read(name) : {};
    const [diagnosis, latency, history, uptime, series] = await Promise.all([
      // A paused target has no diagnosis.
      document.paused ? null : read("/explain"),
      past(`/latency?step=${step}&window=${window}`), past("/history?limit=50&order=desc"), past(`/uptime?window=${window}`),
      hasHistory ? this.#client.json("GET", `targets/overview?series=all&id=${encodeURIComponent(id)}`).catch(() => null) : null,
    ]);
    if (reading !== this.#reading) return null;
    return {
      document, diagnosis, series, points: latency.steps ?? null, history: history.history ?? null,
      uptime: uptime.availability === undefined ? null : uptime,
    };
  }
}
