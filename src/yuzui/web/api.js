// The HTTP client: bearer token, JSON in and out, RFC 9457 problems as one error class.

/** A refused or failed request. `status` 0 means that no answer came. `retryAfter` is in seconds, or null. */
export class Problem extends Error {
  constructor({ status, code, title, detail, retryAfter = null, errors = [] }) {
    super(detail || title || code);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.title = title || "";
    this.detail = detail || "";
    this.retryAfter = retryAfter;
    this.errors = errors;
  }

  /** Asking again later can help: no answer, too many requests, or the server's own fault. */
  get transient() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

async function problemOf(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    body = null; // a proxy's HTML page: the status says what is known
  }
  const seconds = Number(body?.retry_after ?? response.headers.get("Retry-After") ?? Number.NaN);
  return new Problem({
    status: response.status,
    code: body?.code ?? `http_${response.status}`,
    title: body?.title ?? response.statusText,
    detail: typeof body?.detail === "string" ? body.detail : "",
    retryAfter: Number.isFinite(seconds) ? seconds : null,
    errors: Array.isArray(body?.errors) ? body.errors : [],
  });
}

/** A key that is not guessed and not repeated; `crypto.randomUUID` exists on secure origins only. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Api {
  #token;
  #language;

  /** @param {{token: () => string|null, language: () => string}} sources read at every request */
  constructor({ token, language }) {
    this.#token = token;
    this.#language = language;
  }

  /** The raw response of an accepted request; anything but 2xx throws a Problem, an abort throws AbortError. */
  async send(method, path, { body, headers = {}, signal } = {}) {
    const token = this.#token();
    const request = {
      method,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: {
        Accept: "application/json",
        "Accept-Language": this.#language(),
        "X-Timezone": Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    let response;
    try {
      response = await fetch(path, request);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem({ status: 0, code: "network", title: "", detail: "" });
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  /** The JSON body of an accepted request, or null when it has none. */
  async json(method, path, options) {
    const response = await this.send(method, path, options);
    if (response.status === 204) return null;
    try {
      return await response.json();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem({ status: 0, code: "network", title: "", detail: "" });
    }
  }

  /** Every item of a list, page by page. */
  async all(path, { signal, limit = 100 } = {}) {
    const items = [];
    let cursor = null;
    do {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor ? { after: cursor } : {}) });
      const page = await this.json("GET", `${path}?${query}`, { signal });
      items.push(...page.items);
      cursor = page.next ?? null;
    } while (cursor);
    return items;
  }
}
