// A fault as the reader meets it: what happened, and what to do next.

import { h } from "./dom.js";

const ALIASES = {
  rate_limited: "too_many_runs",
  deadline_exceeded: "deadline",
  context_overflow: "context_full",
  context_too_long: "context_full",
  shutting_down: "database_unavailable",
  unknown_app: "not_found",
};

/** The advice for a code; one that is not known falls back on whether trying again can help. */
export function advice({ code, retryAfter, retryable }, { language }) {
  const known = language.known(`advice.${ALIASES[code] ?? code}`);
  const wait = retryAfter ? language.t("advice.retry_after", { n: Math.ceil(retryAfter) }) : "";
  return [known ?? language.t(retryable ? "advice.transient" : "advice.final"), wait].filter(Boolean).join(" ");
}

/** An alert with the fault, the advice and, when there is `onRetry`, a button. */
export function problemBox({ code, title, detail, retryAfter = null, retryable = false, errors = [] }, { page, onRetry = null }) {
  const { t } = page.language;
  const headline = code === "network" ? t("problem.network") : detail || title || t("problem.title");
  return h(
    "div",
    { class: "problem", role: "alert", data: { code } },
    h("p", { class: "problem-what", text: headline }),
    errors.length ? h("ul", {}, errors.map((error) => h("li", { text: `${error.field}: ${error.message}` }))) : null,
    h("p", { class: "problem-next", text: advice({ code, retryAfter, retryable }, page) }),
    h(
      "div",
      { class: "problem-foot" },
      onRetry ? h("button", { type: "button", class: "button quiet", text: t("retry"), on: { click: onRetry } }) : null,
      code === "network" ? null : h("code", { text: t("problem.code", { code }) }),
    ),
  );
}

/** The parts of an error thrown by the API client; anything else is a fault of the page and is thrown on. */
export function partsOf(error) {
  if (error?.name !== "Problem") throw error;
  const { code, title, detail, retryAfter, errors, transient } = error;
  return { code, title, detail, retryAfter, errors, retryable: transient };
}
