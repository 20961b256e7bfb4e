// The steps of a run: open while it works, folded into one line afterwards.

import { h } from "./dom.js";
import { duration } from "./format.js";
import { toolLabel } from "./labels.js";

function stepRow(step, page) {
  const { t } = page.language;
  const state = step.state === "running" ? "running" : (step.outcome ?? "ok");
  const word = page.language.known(`step.${state}`) ?? state;
  const note = step.state === "done" && state === "ok" ? "" : word;
  return h(
    "li",
    { class: `step step-${step.state}`, data: { call: step.callId, outcome: state } },
    h("span", { class: "step-mark", "aria-hidden": true }),
    h("span", { class: "step-label", text: toolLabel(step.tool, { app: page.app(), language: page.language }) }),
    h("span", { class: note ? "step-note" : "visually-hidden", text: note || word }),
    step.durationMs === null ? null : h("span", { class: "step-time", text: duration(step.durationMs) }),
    h("span", { class: "visually-hidden", text: step.reused ? t("step.repeat") : "" }),
  );
}

/** A `<details>` with one row per call, or null without calls. `open` is the reader's own choice, or null. */
export function stepList(steps, { page, busy, open, onToggle }) {
  if (steps.length === 0) return null;
  const { t } = page.language;
  const total = steps.reduce((sum, step) => sum + (step.durationMs ?? 0), 0);
  const key = busy ? "steps.running" : steps.length === 1 ? "steps.one" : "steps.done";
  const summary = h("summary", { text: t(key, { n: steps.length, time: duration(total) }) });
  const list = h("ol", { class: "step-list" }, steps.map((step) => stepRow(step, page)));
  const details = h("details", { class: "steps", open: open ?? busy }, summary, list);
  summary.addEventListener("click", () => onToggle(!details.open));
  return details;
}
