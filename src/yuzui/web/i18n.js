// The language of the page: the reader's choice, else the browser's.

import { EN } from "./text_en.js";
import { ZH } from "./text_zh.js";

const KEY = "yuzui.language";
const TEXTS = { en: EN, zh: ZH };

export class Language {
  #code;

  /** @param {{store: Storage, preferred: readonly string[]}} options `preferred` is `navigator.languages` */
  constructor({ store, preferred }) {
    this.store = store;
    const saved = store.getItem(KEY);
    this.#code = saved in TEXTS ? saved : (preferred[0] ?? "en").toLowerCase().startsWith("zh") ? "zh" : "en";
  }

  /** `en` or `zh`. */
  get code() {
    return this.#code;
  }

  /** The BCP 47 tag for `lang` and for formatting. */
  get tag() {
    return this.#code === "zh" ? "zh-CN" : "en";
  }

  /** Switch to the other language and remember it. */
  toggle() {
    this.#code = this.#code === "zh" ? "en" : "zh";
    this.store.setItem(KEY, this.#code);
  }

  /** A text of the page with `{name}` filled in; an unknown key is a fault of the page. */
  t = (key, values = {}) => {
    const text = TEXTS[this.#code][key];
    if (text === undefined) throw new Error(`no text named ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
  };

  /** The text for `key` when there is one, else null. */
  known(key) {
    return TEXTS[this.#code][key] ?? null;
  }

  /** A text of the server: a string, or `{en, zh}`. */
  pick(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "object") return String(value[this.#code] ?? value.en ?? value.zh ?? "");
    return String(value);
  }
}
