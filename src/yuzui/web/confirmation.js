// A pending action: what would happen, until when it may be confirmed, and what became of it. One decision is one request.

import { newKey } from "./api.js";
import { h } from "./dom.js";
import { localTime, plainValue } from "./format.js";
import { fieldLabel } from "./labels.js";
import { partsOf, problemBox } from "./problem.js";

const CHECK_MS = 1_000;
const CHECKS = 60;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Confirmation {
  #page;
  #draft;
  #onResult;
  #action = null;
  #busy = null;
  #note = null;
  #timer = null;
  /** The card's element; it stays the same through every state. */
  element = h("section", { class: "card confirmation" });

  /**
   * @param {{page, draft, onResult: (runId: string) => void}} options `draft` is the data of `confirmation.required`;
   *   `onResult` is called once with the run that carries out the confirmed action
   */
  constructor({ page, draft, onResult }) {
    this.#page = page;
    this.#draft = draft;
    this.#onResult = onResult;
    this.render();
    this.#armExpiry();
  }

  /** The status as far as this page knows it. */
  get status() {
    return this.#action?.status ?? "pending";
  }

  #path(verb = "") {
    return `/v1/pending-actions/${encodeURIComponent(this.#draft.action_id)}${verb}`;
  }

  #armExpiry() {
    const left = Date.parse(this.#draft.expires_at) - Date.now();
    if (!(left < LONGEST_TIMER_MS)) return;
    this.#timer = setTimeout(() => this.status === "pending" && !this.#busy && this.refresh(), Math.max(0, left) + 250);
  }

  /** Forget the timer; the element is about to go. */
  dispose() {
    clearTimeout(this.#timer);
  }

  /** Ask the server what the action's state is. */
  async refresh() {
    if (this.#busy) return;
    this.#set({ busy: "checking", note: null });
    try {
      await this.#settle(await this.#page.api.json("GET", this.#path()));
    } catch (error) {
      this.#set({ busy: null, note: { ...partsOf(error) } });
    }
  }

  /** Confirm or reject. A second click while one is under way does nothing. */
  async decide(verb) {
    if (this.#busy || this.status !== "pending") return;
    this.#set({ busy: verb, note: null });
    try {
      const headers = { "Idempotency-Key": newKey() };
      await this.#settle(await this.#page.api.json("POST", this.#path(`/${verb}`), { headers }));
    } catch (error) {
      await this.#undecided(partsOf(error));
    }
    this.element.querySelector(".confirmation-status")?.focus();
  }

  /** The decision was refused, or no answer came: the action itself says what is true now. */
  async #undecided(problem) {
    try {
      await this.#settle(await this.#page.api.json("GET", this.#path()), problem.code === "network" ? null : problem);
    } catch (error) {
      this.#set({ busy: null, note: partsOf(error).code === "network" ? "unknown" : problem });
    }
  }

  async #settle(action, note = null) {
    let current = action;
    for (let n = 0; current.status === "executing" && n < CHECKS; n += 1) {
      this.#set({ action: current, busy: "executing" });
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
      current = await this.#page.api.json("GET", this.#path());
    }
    this.#set({ action: current, busy: null, note });
    if (current.result_run_id) this.#onResult(current.result_run_id);
  }

  #set({ action = this.#action, busy = this.#busy, note = this.#note }) {
    this.#action = action;
    this.#busy = busy;
    this.#note = note;
    this.render();
  }

  /** Draw the present state. */
  render() {
    const { t, tag } = this.#page.language;
    const status = this.status;
    this.element.dataset.status = status;
    this.element.setAttribute("aria-label", t("confirm.title"));
    this.element.setAttribute("aria-busy", String(Boolean(this.#busy)));
    const open = status === "pending";
    this.element.replaceChildren(
      h("h3", { text: open ? t("confirm.title") : this.#draft.summary }),
      ...(open ? [h("p", { class: "confirmation-summary", text: this.#draft.summary })] : []),
      this.#argumentTable(),
      ...(open
        ? [
            h("p", { class: "confirmation-note" }, `${t("confirm.nothing")} `,
              h("time", { datetime: this.#draft.expires_at, text: t("confirm.expires", { time: localTime(this.#draft.expires_at, tag) }) })),
            this.#buttons(),
          ]
        : []),
      this.#statusLine(),
      ...this.#notes(),
    );
  }

  #argumentTable() {
    const rows = Object.entries(this.#draft.arguments ?? {});
    if (rows.length === 0) return "";
    const { t } = this.#page.language;
    return h(
      "table",
      { class: "arguments" },
      h("caption", { class: "visually-hidden", text: t("confirm.what") }),
      h("tbody", {}, rows.map(([name, value]) =>
        h("tr", {}, h("th", { scope: "row", text: fieldLabel(name, { app: this.#page.app(), language: this.#page.language }) }), h("td", { text: plainValue(value, { t }) })))),
    );
  }

  #buttons() {
    const { t } = this.#page.language;
    const button = (verb, kind, label) => h("button", {
      type: "button", class: `button ${kind}`, disabled: Boolean(this.#busy), data: { verb }, on: { click: () => this.decide(verb) }, text: label,
    });
    const approver = this.#draft.approval === "approver";
    return h(
      "div",
      { class: "card-actions" },
      approver
        ? h("p", { class: "confirmation-note", text: t("confirm.approver") })
        : button("confirm", "primary", t(this.#busy === "confirm" ? "confirm.working" : "confirm.confirm")),
      button("reject", "quiet", t(this.#busy === "reject" ? "confirm.rejecting" : "confirm.reject")),
      approver ? this.#checkButton() : null,
    );
  }

  #checkButton() {
    const { t } = this.#page.language;
    const check = () => this.refresh();
    return h("button", { type: "button", class: "button quiet", disabled: Boolean(this.#busy), text: t("confirm.check"), on: { click: check } });
  }

  #statusLine() {
    const { language } = this.#page;
    if (this.status === "pending" && this.#busy !== "checking") return "";
    const text = this.#busy === "checking" ? language.t("confirm.checking") : language.known(`action.${this.status}`) ?? this.status;
    return h("p", { class: "confirmation-status", tabindex: "-1", role: "status", text });
  }

  #notes() {
    if (!this.#note) return this.status === "executing" && !this.#busy ? [this.#checkButton()] : [];
    if (this.#note === "unknown") {
      return [h("p", { class: "problem-what", role: "alert", text: this.#page.language.t("confirm.unknown") }), this.#checkButton()];
    }
    return [problemBox(this.#note, { page: this.#page })];
  }
}
