// Follows one run's events until the last one: streams, resumes after the last `seq` when the connection breaks, and
// polls the same events as JSON when streaming does not work here. Hands on every event exactly once and in order.

import { Problem } from "./api.js";
import { SseParser } from "./sse.js";

const TERMINAL = new Set(["run.completed", "run.failed", "run.cancelled"]);
const STREAM_TRIES = 3;
const SILENCE_MS = 40_000;
const POLL_MS = 1_000;
const POLLS_BEFORE_STREAM = 20;
const FIRST_DELAY_MS = 400;
const LAST_DELAY_MS = 15_000;

/** Milliseconds before try `n` (1, 2, …): doubles, bounded, with jitter so that many pages do not return as one. */
export function backOff(n, random = Math.random) {
  const ceiling = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** (n - 1));
  return Math.round(ceiling * (0.5 + random() / 2));
}

/** Resolves after `ms`, at once when the network returns, or when the signal aborts. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", wake);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    globalThis.addEventListener?.("online", wake);
    signal?.addEventListener("abort", wake);
  });
}

/** The stream opened and then said nothing, not even a heartbeat: something between us buffers it. */
class SilentStream extends Error {}

/** An event is missing between two others; what follows must not be shown before it. */
class MissingEvent extends Error {}

export class Follower {
  #api;
  #runId;
  #onEvent;
  #onState;
  #signal;
  #pause;
  #silenceMs;
  #polling = false;
  #done = false;
  #lastSeq;

  /**
   * @param {{api, runId: string, after?: number, onEvent: (event) => void, signal?: AbortSignal,
   *   onState: (state: {name: "connecting"|"live"|"reconnecting"|"polling"|"done"|"failed", problem?}) => void}} options
   */
  constructor({ api, runId, after = 0, onEvent, onState, signal, pause: wait = pause, silenceMs = SILENCE_MS }) {
    this.#api = api;
    this.#runId = runId;
    this.#lastSeq = after;
    this.#onEvent = onEvent;
    this.#onState = onState;
    this.#signal = signal;
    this.#pause = wait;
    this.#silenceMs = silenceMs;
  }

  /** Returns when the run ended, the signal aborted, or asking again cannot help. */
  async follow() {
    let failures = 0;
    this.#onState({ name: "connecting" });
    while (!this.#done && !this.#signal?.aborted) {
      const before = this.#lastSeq;
      let problem = null;
      try {
        await (this.#polling ? this.#poll() : this.#stream());
      } catch (error) {
        if (this.#signal?.aborted) return;
        if (error instanceof Problem && !error.transient) return this.#onState({ name: "failed", problem: error });
        if (error instanceof SilentStream) this.#polling = true;
        problem = error;
      }
      if (this.#done || this.#signal?.aborted) break;
      if (problem === null && this.#polling) {
        this.#polling = false; // polling went well for a while: perhaps only the network was away, so try a stream once
        failures = STREAM_TRIES - 1;
        continue;
      }
      failures = this.#lastSeq > before ? 1 : failures + 1;
      if (failures >= STREAM_TRIES) this.#polling = true;
      this.#onState({ name: "reconnecting", problem });
      await this.#pause(Math.max(backOff(failures), (problem?.retryAfter ?? 0) * 1000), this.#signal);
    }
    if (this.#done) this.#onState({ name: "done" });
  }

  #path() {
    return `/v1/runs/${encodeURIComponent(this.#runId)}/events?view=full&after=${this.#lastSeq}`;
  }

  #take(event) {
    if (event.seq <= this.#lastSeq) return;
    if (event.seq !== this.#lastSeq + 1) throw new MissingEvent(`expected ${this.#lastSeq + 1}, got ${event.seq}`);
    this.#lastSeq = event.seq;
    this.#done = TERMINAL.has(event.type);
    this.#onEvent(event);
  }

  async #stream() {
    const cut = new AbortController();
    const abort = () => cut.abort();
    this.#signal?.addEventListener("abort", abort);
    let silent = false;
    let watchdog = null;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        silent = true;
        cut.abort();
      }, this.#silenceMs);
    };
    try {
      alive();
      await this.#read(cut.signal, alive);
    } catch (error) {
      throw silent ? new SilentStream() : error;
    } finally {
      clearTimeout(watchdog);
      this.#signal?.removeEventListener("abort", abort);
      cut.abort();
    }
  }

  async #read(signal, alive) {
    const headers = { Accept: "text/event-stream" };
    if (this.#lastSeq > 0) headers["Last-Event-ID"] = String(this.#lastSeq);
    const response = await this.#api.send("GET", this.#path(), { headers, signal });
    this.#onState({ name: "live" });
    const parser = new SseParser((frame) => this.#take(JSON.parse(frame.data)));
    const reader = response.body.getReader();
    while (!this.#done) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      parser.push(value);
    }
  }

  async #poll() {
    for (let n = 0; n < POLLS_BEFORE_STREAM && !this.#signal?.aborted; n += 1) {
      const page = await this.#api.json("GET", this.#path(), { signal: this.#signal });
      for (const event of Array.isArray(page) ? page : page.items) this.#take(event);
      if (this.#done) return;
      this.#onState({ name: "polling" });
      await this.#pause(POLL_MS, this.#signal);
    }
  }
}

/** The events a run has now, as JSON, from the first one; a page that ends it or holds nothing new is the last. */
export async function storedEvents(api, runId, signal) {
  const events = [];
  let after = 0;
  for (;;) {
    const path = `/v1/runs/${encodeURIComponent(runId)}/events?view=full&after=${after}`;
    const page = await api.json("GET", path, { signal });
    const fresh = (Array.isArray(page) ? page : page.items).filter((event) => event.seq > after);
    events.push(...fresh);
    if (fresh.length === 0 || TERMINAL.has(fresh.at(-1).type)) return events;
    after = fresh.at(-1).seq;
  }
}
