// A structured card of an answer: known parts are laid out, parts this page does not know are shown as fields.

import { h } from "./dom.js";
import { provenanceBadge } from "./evidence.js";
import { plainValue } from "./format.js";
import { fieldLabel } from "./labels.js";

const KNOWN = new Set(["id", "kind", "title", "subtitle", "text", "fields", "items", "actions", "source", "provenance"]);

function fieldRow(field, page) {
  const { language } = page;
  const value = typeof field.value === "object" && field.value && ("en" in field.value || "zh" in field.value)
    ? language.pick(field.value)
    : plainValue(field.value, { t: language.t });
  return [
    h("dt", { text: language.pick(field.label) }),
    h("dd", {}, value, field.unit ? ` ${language.pick(field.unit)}` : null,
      field.provenance ? provenanceBadge(field.provenance, "", page) : null),
  ];
}

const isPlain = (value) => value === null || typeof value !== "object";
const isFlat = (item) => item !== null && typeof item === "object" && !Array.isArray(item) && Object.values(item).every(isPlain);

/** Rows that share their columns read best as a table; anything else as a list. */
function itemTable(items, page) {
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))].filter((name) => name !== "id");
  const value = (item, name) => name === "provenance"
    ? provenanceBadge(item[name], "", page)
    : plainValue(item[name], { t: page.language.t });
  return h(
    "div",
    { class: "table-scroll", tabindex: "0" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col", text: fieldLabel(name, { app: page.app(), language: page.language }) })))),
      h("tbody", {}, items.map((item) => h("tr", {}, columns.map((name) => h("td", {}, value(item, name)))))),
    ),
  );
}

function itemEntry(item, page) {
  if (isPlain(item)) return h("li", { text: plainValue(item, { t: page.language.t }) });
  if (item.fields || item.items || item.title) return h("li", {}, cardBody(item, page));
  return h("li", { text: plainValue(item, { t: page.language.t }) });
}

function itemList(items, page) {
  if (items.length > 0 && items.every((item) => isFlat(item) && !item.title)) return itemTable(items, page);
  return h("ul", { class: "card-items" }, items.map((item) => itemEntry(item, page)));
}

function cardBody(card, page) {
  const { language } = page;
  const extra = Object.entries(card).filter(([name, value]) => !KNOWN.has(name) && value !== null);
  const fields = [...(card.fields ?? []), ...extra.map(([name, value]) => ({ label: fieldLabel(name, { app: page.app(), language }), value }))];
  return [
    card.title ? h("h3", { text: language.pick(card.title) }) : null,
    card.subtitle ? h("p", { class: "card-subtitle", text: language.pick(card.subtitle) }) : null,
    card.text ? h("p", { text: language.pick(card.text) }) : null,
    fields.length ? h("dl", { class: "fields" }, fields.flatMap((field) => fieldRow(field, page))) : null,
    card.items?.length ? itemList(card.items, page) : null,
    typeof card.provenance === "string" ? provenanceBadge(card.provenance, card.source ?? "", page) : null,
  ];
}

function actionButton(action, page) {
  const send = () => page.send(page.language.pick(action.message));
  return h("button", { type: "button", class: "button quiet", text: page.language.pick(action.label), on: { click: send } });
}

/** A card as a section of its own. An action sends its message as if it were typed. */
export function cardElement(card, page) {
  const actions = (card.actions ?? []).filter((action) => action.message);
  return h(
    "section",
    { class: "card", data: { kind: card.kind ?? "" }, "aria-label": page.language.pick(card.title) || null },
    cardBody(card, page),
    actions.length ? h("div", { class: "card-actions" }, actions.map((action) => actionButton(action, page))) : null,
  );
}
