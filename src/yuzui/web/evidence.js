// What an answer rests on: how it came about, where its figures are from, and its sources.

import { h } from "./dom.js";

const badge = (kind, text, help) => h("span", { class: `badge badge-${kind}`, title: help, data: { badge: kind } }, text);

/** How a figure was obtained, with the source's name when there is one. */
export function provenanceBadge(provenance, source, { language }) {
  const text = language.known(`provenance.${provenance}`) ?? provenance;
  const help = language.known(`provenance.${provenance}.help`) ?? "";
  return badge(provenance, source ? `${text} · ${source}` : text, help);
}

/** Labels over an answer that is not simply the model's, or that has a defect the reader must know; null when there are none.
 * A question to the person (a draft to confirm, a choice) and a demo text claim nothing: nothing is said of their sources. */
export function answerBadges(message, { language }, { asks = false } = {}) {
  const { t } = language;
  const badges = [];
  if (["direct", "demo", "fallback"].includes(message.source) && !asks) {
    badges.push(badge(message.source, t(`source.${message.source}`), t(`source.${message.source}.help`)));
  }
  const claims = !asks && ["model", "fallback"].includes(message.source);
  if (message.grounded === false && claims) badges.push(badge("ungrounded", t("badge.ungrounded"), t("badge.ungrounded.help")));
  if (message.explanation === "degraded") badges.push(badge("degraded", t("badge.degraded"), t("badge.degraded.help")));
  if (message.truncated) {
    const name = language.known(`budget.${message.truncated}`) ?? message.truncated;
    badges.push(badge("truncated", t("badge.truncated", { name }), t("badge.truncated.help")));
  }
  if (badges.length === 0) return null;
  const notes = badges.filter((item) => ["demo", "fallback", "ungrounded", "truncated"].includes(item.dataset.badge));
  return h(
    "div",
    { class: "badges" },
    badges,
    notes.length ? h("p", { class: "badge-help", text: notes.map((item) => item.title).join(" ") }) : null,
  );
}

/** The list of stamped figures, or null. */
export function provenanceList(notes, page) {
  if (!notes?.length) return null;
  const rows = notes.map((note) =>
    h("li", {}, h("span", { text: page.language.pick(note.subject) }), " ", provenanceBadge(note.provenance, note.source, page)),
  );
  return h("section", { class: "provenance" }, h("h4", { text: page.language.t("provenance.title") }), h("ul", {}, rows));
}

/** The sources, each with the passage behind a fold; null without any. */
export function citationList(citations, { language }) {
  if (!citations?.length) return null;
  const rows = citations.map((citation) =>
    h(
      "li",
      { value: citation.n, data: { citation: citation.n } },
      h(
        "details",
        {},
        h(
          "summary",
          {},
          h("span", { class: "citation-number", text: citation.n }),
          h("span", { class: "citation-title", text: citation.title || citation.document }),
          citation.locator ? h("span", { class: "citation-locator", text: citation.locator }) : null,
        ),
        h("blockquote", { text: citation.snippet ?? "" }),
      ),
    ),
  );
  return h("section", { class: "citations" }, h("h4", { text: language.t("citations.title") }), h("ol", {}, rows));
}
