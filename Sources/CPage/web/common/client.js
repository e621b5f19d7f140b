// Requests to the service, with the token of the page.

/** What a response says about itself: `{status, detail, requestID, scope}`; scope: the one that a 401 or 403 requires. */
export async function problemOf(response) {
  let body = {};
  try { body = await response.json(); } catch { /* The body is optional. */ }
  return {
    ...body, status: response.status, title: body.title || response.statusText,
    detail: body.detail || body.title || response.statusText || String(response.status),
    requestID: response.headers.get("X-Request-Id"),
    scope: response.status === 401 || response.status === 403
      ? /scope="([^"]+)"/.exec(response.headers.get("WWW-Authenticate") ?? "")?.[1] ?? null : null,
  };
}

/** Whether a request may succeed later: it had no response, or the service was not able to handle it. */
export function isTemporary({ status }) { return !(status >= 400 && status < 500 && status !== 429); }

export class Client {
  #base;
  #token;

  /** `base` is the URL of the service's root, `token` a bearer token or null. */
  constructor(base, token) {
    this.#base = base;
    this.#token = token;
  }

  /** The URL of a path; without a slash before it, so that the page works behind a path prefix. */
  url(path) { return new URL(path, this.#base); }

  get headers() { return this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` }; }

  /** Requests a document; throws a problem, with the status 0 if there was no response. */
  async response(method, path, { body, signal } = {}) {
    let response;
    try {
      response = await fetch(this.url(path), {
        method, cache: "no-cache", signal, body: body && JSON.stringify(body),
        headers: { ...this.headers, Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) },
      });
    } catch (error) {
      throw { detail: String(error?.message ?? error), requestID: null, status: 0, scope: null };
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  /** Requests a JSON document; null if the response has none. */
  async json(method, path, options = {}) {
    const response = await this.response(method, path, options);
    return response.status === 204 ? null : response.json();
  }
}
