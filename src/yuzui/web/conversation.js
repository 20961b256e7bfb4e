// The turns of one session: loads the past, sends messages, follows runs until they end.

import { newKey } from "./api.js";
import { h } from "./dom.js";
import { Follower, storedEvents } from "./follower.js";
import { partsOf } from "./problem.js";
import { Turn } from "./turn.js";
import { ended } from "./view.js";

const LOADS_AT_ONCE = 4;
const NEAR_END_PX = 120;

export class Conversation {
  #page;
  #log;
  #scroller;
  #handlers;
  #turns = [];
  #abort = new AbortController();
  #keys = new WeakMap();
  /** The open session, or null before the first message. */
  session = null;

  /** @param {{page, log: HTMLElement, scroller: HTMLElement, handlers: {changed, network, created, announce, title}}} options */
  constructor({ page, log, scroller, handlers }) {
    this.#page = page;
    this.#log = log;
    this.#scroller = scroller;
    this.#handlers = handlers;
  }

  get busy() {
    return this.#turns.some((turn) => turn.busy);
  }

  get empty() {
    return this.#turns.length === 0;
  }

  /** Leave the session; what still runs goes on at the server. */
  clear() {
    this.#abort.abort();
    this.#abort = new AbortController();
    for (const turn of this.#turns) turn.dispose();
    this.#turns = [];
    this.session = null;
    this.#log.replaceChildren();
    this.#handlers.network({ name: "done" });
    this.#handlers.changed();
  }

  /** Show a session with its past; a run that has not ended is followed on. Throws the Problem of a session that is not there. */
  async open(sessionId) {
    this.clear();
    const { signal } = this.#abort;
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
    const [session, messages] = await Promise.all([
      this.#page.api.json("GET", path, { signal }),
      this.#page.api.all(`${path}/messages`, { signal }),
    ]);
    if (signal.aborted) return;
    this.session = session;
    for (const [runId, pair] of byRun(messages)) this.#add({ runId, ...pair });
    this.#scrollToEnd();
    this.#handlers.changed();
    const waiting = [...this.#turns].reverse();
    const worker = async () => {
      for (let turn = waiting.shift(); turn && !signal.aborted; turn = waiting.shift()) await this.#recall(turn, signal);
    };
    await Promise.all(Array.from({ length: LOADS_AT_ONCE }, worker));
  }

  /** Draw everything in the present language. */
  rebuild() {
    for (const turn of this.#turns) turn.rebuild();
  }

  /** Send a message; the first one makes the session. While a run is under way this does nothing and says so with false. */
  send(text) {
    if (this.busy || text.trim() === "") return false;
    const turn = this.#add({ runId: null, asked: text, stored: null });
    this.#keys.set(turn, newKey());
    this.#scrollToEnd();
    this.#handlers.changed();
    this.#start(turn, this.#abort.signal);
    return true;
  }

  /** Ask the server to stop what runs now. */
  async cancel() {
    const running = this.#turns.filter((turn) => turn.busy && turn.runId);
    for (const turn of running) {
      try {
        await this.#page.api.json("POST", `/v1/runs/${encodeURIComponent(turn.runId)}/cancel`);
      } catch (error) {
        const parts = partsOf(error);
        if (parts.retryable) this.#handlers.announce(this.#page.language.t("problem.network"));
      }
    }
  }

  #add({ runId, asked, stored }) {
    const handlers = {
      retry: (turn) => this.#retry(turn),
      result: (id) => this.#showResult(id),
      changed: (turn) => this.#turnChanged(turn),
    };
    const turn = new Turn({ page: this.#page, runId, asked, stored, handlers });
    this.#turns.push(turn);
    this.#log.append(turn.element);
    turn.draw();
    return turn;
  }

  #turnChanged(turn) {
    const last = turn === this.#turns.at(-1);
    if (last && this.#nearEnd) this.#scrollToEnd();
    this.#handlers.changed();
  }

  async #start(turn, signal) {
    try {
      this.session ??= await this.#newSession(signal);
      const path = `/v1/sessions/${encodeURIComponent(this.session.id)}/runs`;
      const headers = { "Idempotency-Key": this.#keys.get(turn) };
      const accepted = await this.#page.api.json("POST", path, { body: { message: turn.asked }, headers, signal });
      turn.accept(accepted.run_id);
    } catch (error) {
      if (signal.aborted) return;
      turn.fail(partsOf(error));
      return;
    }
    await this.#follow(turn, signal);
    this.#handlers.title();
  }

  async #newSession(signal) {
    const session = await this.#page.api.json("POST", "/v1/sessions", { body: { app: this.#page.app().name }, signal });
    this.#handlers.created(session);
    return session;
  }

  #follow(turn, signal) {
    const follower = new Follower({
      api: this.#page.api,
      runId: turn.runId,
      after: turn.view.lastSeq,
      signal,
      onEvent: (event) => turn.take(event),
      onState: (state) => {
        if (state.name === "failed") turn.fail(partsOf(state.problem));
        this.#handlers.network(state);
      },
    });
    return follower.follow();
  }

  /** Fetch what the log holds of a past turn and follow it on when it has not ended. */
  async #recall(turn, signal) {
    try {
      for (const event of await storedEvents(this.#page.api, turn.runId, signal)) turn.take(event);
    } catch (error) {
      if (signal.aborted) return;
      const parts = partsOf(error);
      if (turn.stored === null) turn.fail(parts); // a stored answer stays readable without its record
      return;
    }
    if (!ended(turn.view)) this.#follow(turn, signal);
    else if (turn.view.confirmation) await turn.refreshAction();
  }

  /** The same request again: with the same key when it may have arrived, as a new one when its run had failed. */
  #retry(turn) {
    if (this.busy) return;
    if (turn.runId) {
      this.send(turn.asked);
      return;
    }
    turn.problem = null;
    turn.draw();
    this.#handlers.changed();
    this.#start(turn, this.#abort.signal);
  }

  #showResult(runId) {
    if (this.#turns.some((turn) => turn.runId === runId)) return;
    const turn = this.#add({ runId, asked: "", stored: null });
    this.#scrollToEnd();
    this.#follow(turn, this.#abort.signal);
  }

  get #nearEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX + clientHeight / 4;
  }

  #scrollToEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}

/** Messages in order of time, grouped into what was asked and what was stored as the answer. */
export function byRun(messages) {
  const runs = new Map();
  for (const message of messages) {
    const pair = runs.get(message.run_id) ?? { asked: "", stored: null };
    if (message.role === "user") pair.asked = message.text;
    else pair.stored = { text: message.text, html: message.html };
    runs.set(message.run_id, pair);
  }
  return runs;
}

/** A line for an empty conversation, with the app's own examples to begin from. */
export function welcome(page) {
  const { language } = page;
  const app = page.app();
  const examples = app?.examples?.[language.code] ?? [];
  return h(
    "div",
    { class: "welcome" },
    h("img", { src: "/assets/icon.svg", alt: "", width: 56, height: 56 }),
    h("h2", { text: language.t("empty.title") }),
    h("p", { text: language.t("empty.lead") }),
    h("ul", { class: "examples" }, examples.map((text) =>
      h("li", {}, h("button", { type: "button", class: "example", text, on: { click: () => page.send(text) } })))),
  );
}
