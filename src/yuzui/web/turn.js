// One turn on the page: what was asked, and the run that answers it. Redraws only the parts whose state changed.

import { cardElement } from "./card.js";
import { Confirmation } from "./confirmation.js";
import { h } from "./dom.js";
import { answerBadges, citationList, provenanceList } from "./evidence.js";
import { problemBox } from "./problem.js";
import { RunDetails } from "./run_details.js";
import { safeFragment } from "./sanitize.js";
import { stepList } from "./steps.js";
import { emptyView, ended, reduce } from "./view.js";

const SLOTS = ["steps", "notice", "body", "cards", "confirmation", "choices", "evidence", "problem"];

export class Turn {
  #page;
  #handlers;
  #drawn = new Map();
  #slots = {};
  #details;
  #confirmation = null;
  #stepsOpen = null;
  #scheduled = false;
  element;
  /** What the person wrote; empty for a run that carries out a confirmed action. */
  asked;
  view;
  /** A refused or failed request for this turn, as parts for `problemBox`, or null. */
  problem = null;
  /** The stored answer, shown until the run's events are here. */
  stored;

  /** @param {{page, runId: string|null, asked: string, stored?: {html, text}, handlers: {retry, result, changed}}} options */
  constructor({ page, runId, asked, stored = null, handlers }) {
    this.#page = page;
    this.#handlers = handlers;
    this.asked = asked;
    this.stored = stored;
    this.view = emptyView(runId);
    this.#build();
  }

  get runId() {
    return this.view.runId;
  }

  /** Work is going on, or is about to. */
  get busy() {
    return !ended(this.view) && this.problem === null && (this.stored === null || this.view.lastSeq > 0);
  }

  /** The server accepted the request. */
  accept(runId) {
    this.view = emptyView(runId);
    this.element.dataset.run = runId;
  }

  /** Take one event of the run. */
  take(event) {
    const next = reduce(this.view, event);
    if (next === this.view) return;
    this.view = next;
    this.schedule();
  }

  /** Draw soon; many events within a frame are one drawing. */
  schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueFrame(() => {
      this.#scheduled = false;
      this.draw();
      this.#handlers.changed(this);
    });
  }

  /** The request did not get through, or its run cannot be followed. */
  fail(problem) {
    this.problem = problem;
    this.draw();
    this.#handlers.changed(this);
  }

  /** Ask what became of the action; needed for turns of the past, whose events do not tell. */
  async refreshAction() {
    this.draw();
    await this.#confirmation?.refresh();
  }

  /** Build everything anew, as after a change of language. */
  rebuild() {
    this.#confirmation?.render();
    const old = this.element;
    this.#build();
    this.draw();
    old.replaceWith(this.element);
  }

  /** Stop timers; the element leaves the page. */
  dispose() {
    this.#confirmation?.dispose();
  }

  #build() {
    const { t } = this.#page.language;
    this.#drawn.clear();
    this.#details = new RunDetails({ page: this.#page });
    this.#slots = Object.fromEntries(SLOTS.map((name) => [name, h("div", { class: `slot slot-${name}` })]));
    const answer = h("div", { class: "answer" }, SLOTS.map((name) => this.#slots[name]), this.#details.element);
    const asked = this.asked
      ? h("div", { class: "asked" }, h("span", { class: "visually-hidden", text: `${t("you")}: ` }), h("p", { text: this.asked }))
      : null;
    this.element = h("article", { class: "turn", data: { run: this.runId ?? "" } }, asked, answer);
  }

  /** Redraw the parts whose state changed. */
  draw() {
    const { view } = this;
    this.element.setAttribute("aria-busy", String(this.busy));
    this.element.dataset.status = view.status;
    this.#slot("steps", [view.steps, this.busy], () => this.#steps());
    this.#slot("notice", [view.attempt, view.status, this.busy], () => this.#notice());
    this.#slot("body", [view.text, view.message, view.status, view.steps.length, this.stored, this.busy], () => this.#body());
    this.#slot("cards", [view.message], () => (view.message?.cards ?? []).map((card) => cardElement(card, this.#page)));
    this.#slot("confirmation", [view.confirmation], () => this.#confirmationCard());
    this.#slot("choices", [view.clarification], () => this.#choices());
    this.#slot("evidence", [view.message, view.citations, view.confirmation, view.clarification], () => this.#evidence());
    this.#slot("problem", [view.error, this.problem], () => this.#problemBox());
    this.#details.update(view);
  }

  #slot(name, inputs, build) {
    const before = this.#drawn.get(name);
    if (before && inputs.every((value, index) => Object.is(value, before[index]))) return;
    this.#drawn.set(name, inputs);
    const built = [build()].flat(2).filter((part) => part !== null && part !== undefined);
    this.#slots[name].replaceChildren(...built);
  }

  #steps() {
    const onToggle = (open) => {
      this.#stepsOpen = open;
    };
    return stepList(this.view.steps, { page: this.#page, busy: this.busy, open: this.#stepsOpen, onToggle });
  }

  #notice() {
    const { t } = this.#page.language;
    if (this.view.status === "cancelled") return h("p", { class: "notice", text: t("run.cancelled") });
    if (this.view.attempt > 1 && this.busy) return h("p", { class: "notice", text: t("run.restarted", { n: this.view.attempt }) });
    return null;
  }

  #body() {
    const { view, stored } = this;
    const { t } = this.#page.language;
    const html = view.message?.html ?? (view.lastSeq === 0 ? stored?.html : null);
    if (html) return h("div", { class: "prose" }, safeFragment(html));
    const text = view.message?.text ?? (view.text || (view.lastSeq === 0 ? stored?.text : ""));
    if (text) return h("div", { class: this.busy ? "prose streaming" : "prose plain", text });
    if (!this.busy || view.steps.length > 0) return null;
    const waiting = view.status === "queued" && view.lastSeq > 0 ? t("run.queued") : t("run.thinking");
    return h("p", { class: "thinking" }, h("span", { class: "wave", "aria-hidden": true }), waiting);
  }

  #confirmationCard() {
    const draft = this.view.confirmation;
    if (!draft) return null;
    this.#confirmation ??= new Confirmation({ page: this.#page, draft, onResult: (runId) => this.#handlers.result(runId) });
    return this.#confirmation.element;
  }

  #choices() {
    const clarification = this.view.clarification;
    if (!clarification) return null;
    const { language, send } = this.#page;
    const buttons = (clarification.choices ?? []).map((choice) =>
      h("button", { type: "button", class: "button choice", text: language.pick(choice.label), on: { click: () => send(choice.message) } }));
    const asked = this.view.message?.text?.includes(clarification.question);
    return [
      asked ? null : h("p", { class: "prose", text: clarification.question }),
      h("div", { class: "choices", role: "group", "aria-label": language.t("clarify.choices") }, buttons),
    ];
  }

  #evidence() {
    const { message, citations, confirmation, clarification } = this.view;
    if (!message) return null;
    const asks = Boolean(confirmation ?? clarification);
    return [answerBadges(message, this.#page, { asks }), provenanceList(message.provenance, this.#page), citationList(citations, this.#page)];
  }

  #problemBox() {
    const parts = this.problem ?? this.view.error;
    if (!parts) return null;
    const onRetry = parts.retryable ? () => this.#handlers.retry(this) : null;
    return problemBox(parts, { page: this.#page, onRetry });
  }
}

/** A hidden tab gets no animation frames; there a timer does. */
function queueFrame(callback) {
  if (document.hidden) setTimeout(callback, 50);
  else requestAnimationFrame(callback);
}
