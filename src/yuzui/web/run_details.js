// The record of a run behind a fold: route, policy, budgets, tool calls, usage and every event in order.

import { h } from "./dom.js";
import { duration, plainValue } from "./format.js";
import { toolLabel } from "./labels.js";

function facts(title, pairs, { language }) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length));
  if (shown.length === 0) return null;
  const rows = shown.flatMap(([label, value]) => [h("dt", { text: label }), h("dd", { text: plainValue(value, { t: language.t }) })]);
  return h("section", {}, h("h4", { text: title }), h("dl", { class: "fields" }, rows));
}

function routeFacts(view, page) {
  const { t } = page.language;
  const route = view.route;
  if (!route) return null;
  const source = page.language.known(`routesource.${route.source}`) ?? route.source;
  const targets = Object.values(route.targets ?? {});
  return facts(t("details.route"), [
    [t("details.intent"), route.intent],
    [t("details.confidence"), `${Math.round((route.confidence ?? 0) * 100)} %`],
    [t("details.decided"), source],
    [t("details.rule"), route.rule_id],
    [t("details.targets"), targets],
    [t("details.plan"), route.plan],
    [t("details.blocked"), route.blocked_reason],
    [t("details.flags"), route.flags],
  ], page);
}

function policyFacts(view, page) {
  const { t } = page.language;
  const policy = view.policy;
  if (!policy) return null;
  return facts(t("details.policy"), [
    [t("details.mode"), page.language.known(`mode.${policy.mode}`) ?? policy.mode],
    [t("details.tools"), policy.tools],
    [t("details.required"), policy.required_tools],
    [t("details.postconditions"), policy.postconditions],
    [t("details.hash"), policy.policy_hash],
    [t("details.catalog"), policy.catalog_version],
  ], page);
}

function meterRow(label, used, limit, { language }) {
  const text = language.t("details.used", { used, limit });
  return [
    h("dt", { text: label }),
    h("dd", { class: "meter-row" }, h("meter", { min: 0, max: Math.max(limit, 1), value: Math.min(used, limit), "aria-label": label, text }), h("span", { text })),
  ];
}

function budgetMeters(view, page) {
  const budget = view.policy?.budget;
  if (!budget) return null;
  const usage = view.usage ?? {};
  const used = {
    model_calls: usage.model_calls ?? 0,
    tool_calls: usage.tool_calls ?? view.steps.length,
    rewrites: usage.rewrites ?? 0,
    deadline_s: Math.round((usage.seconds ?? 0) * 10) / 10,
  };
  const rows = Object.entries(budget)
    .filter(([name, limit]) => name in used && typeof limit === "number")
    .flatMap(([name, limit]) => meterRow(page.language.known(`budget.${name}`) ?? name, used[name], limit, page));
  return rows.length ? h("section", {}, h("h4", { text: page.language.t("details.budgets") }), h("dl", { class: "fields" }, rows)) : null;
}

function callTable(view, page) {
  if (view.steps.length === 0) return null;
  const { t } = page.language;
  const head = ["details.tool", "details.outcome", "details.time", "details.arguments"].map((key) => h("th", { scope: "col", text: t(key) }));
  const rows = view.steps.map((step) => {
    const outcome = step.outcome ?? "running";
    const label = page.language.known(`step.${outcome}`) ?? outcome;
    return h("tr", {},
      h("td", {}, toolLabel(step.tool, { app: page.app(), language: page.language }), " ", h("code", { text: step.tool })),
      h("td", { text: step.reused ? t("step.repeat") : label }),
      h("td", { text: duration(step.durationMs) }),
      h("td", {}, h("code", { text: JSON.stringify(step.arguments) }), step.observation ? h("p", { class: "observation", text: step.observation }) : null));
  });
  const table = h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));
  return h("section", {}, h("h4", { text: t("details.calls") }), h("div", { class: "table-scroll", tabindex: "0" }, table));
}

function usageFacts(view, page) {
  const usage = view.usage;
  if (!usage) return null;
  const { t } = page.language;
  return facts(t("details.usage"), [
    [t("details.tokens_in"), usage.tokens_in],
    [t("details.tokens_out"), usage.tokens_out],
    [t("details.cost"), usage.cost],
    [t("details.seconds"), usage.seconds === undefined ? null : duration(usage.seconds * 1000)],
  ], page);
}

function timeline(view, page) {
  const start = Date.parse(view.timeline[0]?.at ?? "");
  const rows = view.timeline.map((entry) =>
    h("li", {},
      h("span", { class: "timeline-time", text: Number.isNaN(start) ? "" : `+${duration(Math.max(0, Date.parse(entry.at) - start))}` }),
      h("code", { text: entry.count > 1 ? `${entry.type} × ${entry.count}` : entry.type })));
  return h("section", {}, h("h4", { text: page.language.t("details.timeline") }), h("ol", { class: "timeline" }, rows));
}

/** The folded record. Its body is drawn when it is opened, and again when the run goes on while it is open. */
export class RunDetails {
  #page;
  #view = null;
  #body = h("div", { class: "details-body" });
  #summary = h("summary");
  element = h("details", { class: "run-details" }, this.#summary, this.#body);

  constructor({ page }) {
    this.#page = page;
    this.element.addEventListener("toggle", () => this.#draw());
  }

  /** Show this state of the run. */
  update(view) {
    this.#view = view;
    this.#summary.textContent = this.#page.language.t("details.title");
    this.element.hidden = view.route === null && view.steps.length === 0 && view.usage === null;
    this.#draw();
  }

  #draw() {
    if (!this.element.open || !this.#view) return;
    const [view, page] = [this.#view, this.#page];
    const parts = [routeFacts, policyFacts, budgetMeters, callTable, usageFacts, timeline].map((part) => part(view, page));
    const run = h("p", { class: "run-id" }, `${page.language.t("details.run")} `, h("code", { text: view.runId }));
    this.#body.replaceChildren(...parts.filter(Boolean), run);
  }
}
