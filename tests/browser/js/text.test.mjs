// R-UI-01: Chinese and English say the same things.
import assert from "node:assert/strict";
import { test } from "node:test";

import { byRun } from "../../../src/yuzui/web/conversation.js";
import { duration, humanName, localTime, plainValue } from "../../../src/yuzui/web/format.js";
import { Language } from "../../../src/yuzui/web/i18n.js";
import { toolLabel } from "../../../src/yuzui/web/labels.js";
import { EN } from "../../../src/yuzui/web/text_en.js";
import { ZH } from "../../../src/yuzui/web/text_zh.js";

const store = () => {
  const items = new Map();
  return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value) };
};

test("both languages have the same texts with the same blanks", () => {
  assert.deepEqual(Object.keys(ZH).sort(), Object.keys(EN).sort());
  const blanks = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const key of Object.keys(EN)) assert.deepEqual(blanks(ZH[key]), blanks(EN[key]), key);
});

test("the browser's language decides until the reader chooses", () => {
  const kept = store();
  assert.equal(new Language({ store: kept, preferred: ["zh-TW", "en"] }).code, "zh");
  const language = new Language({ store: kept, preferred: ["de", "zh"] });
  assert.equal(language.code, "en");
  language.toggle();
  assert.equal(new Language({ store: kept, preferred: ["en"] }).code, "zh");
});

test("an unknown text is refused instead of shown as its key", () => {
  assert.throws(() => new Language({ store: store(), preferred: ["en"] }).t("no.such.text"));
});

test("a tool is named by its app, else by the common list, else spelled out", () => {
  const language = new Language({ store: store(), preferred: ["zh"] });
  assert.equal(toolLabel("get_bmi", { app: { tools: { get_bmi: { effect: "read", labels: { en: "X", zh: "算" } } } }, language }), "算");
  assert.equal(toolLabel("get_bmi", { app: { tools: { get_bmi: { effect: "read", labels: {} } } }, language }), "计算 BMI");
  assert.equal(toolLabel("food-composition.lookup_food", { app: null, language }), "查询食物成分");
  assert.equal(toolLabel("count_the_ducks", { app: null, language }), "Count the ducks");
});

test("a time is absolute and names its zone", () => {
  const text = localTime("2026-03-01T08:05:00Z", "en");
  assert.match(text, /2026/);
  assert.match(text, /UTC|GMT|[A-Z]{2,5}/);
  assert.equal(localTime("not a time", "en"), "not a time");
});

test("values read as text", () => {
  const t = (key) => EN[key];
  assert.equal(plainValue({ start_day: "2026-01-01", done: true, n: null }, { t }), "Start day: 2026-01-01; Done: Yes; N: –");
  assert.equal(plainValue([0, "a"], { t }), "0, a");
  assert.equal(humanName("meal_type"), "Meal type");
  assert.equal(duration(999), "999 ms");
  assert.equal(duration(1500), "1.5 s");
});

test("messages are grouped by their run in order", () => {
  const runs = byRun([
    { role: "user", text: "a", run_id: "run_1" },
    { role: "assistant", text: "b", html: "<p>b</p>", run_id: "run_1" },
    { role: "user", text: "c", run_id: "run_2" },
  ]);
  assert.deepEqual([...runs], [
    ["run_1", { asked: "a", stored: { text: "b", html: "<p>b</p>" } }],
    ["run_2", { asked: "c", stored: null }],
  ]);
});
