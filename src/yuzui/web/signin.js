// The first thing a new visitor sees: a token, or one of the local demo people when the server says it has them.

import { byId, h } from "./dom.js";

const KEY = "yuzui.token";
const DEV_TOKENS = ["dev-alice", "dev-bob", "dev-olga", "dev-root"];

export class SignIn {
  #page;
  #onToken;
  #view = byId("signin");
  #field = byId("token");
  #error = byId("signin-error");
  #demo = byId("signin-demo");
  #store;

  /** @param {{page, store: Storage, onToken: (token: string) => void}} options `store` is the tab's sessionStorage */
  constructor({ page, store, onToken }) {
    this.#page = page;
    this.#store = store;
    this.#onToken = onToken;
    byId("signin-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#use(this.#field.value.trim());
    });
  }

  get token() {
    return this.#store.getItem(KEY);
  }

  forget() {
    this.#store.removeItem(KEY);
  }

  hide() {
    this.#view.hidden = true;
    byId("shell").hidden = false;
  }

  /** Ask for a token; `refused` says that the last one was not accepted. */
  async show({ refused = false } = {}) {
    this.#view.hidden = false;
    byId("shell").hidden = true;
    this.#error.hidden = !refused;
    this.#field.value = "";
    this.#field.setAttribute("aria-invalid", String(refused));
    this.#field.focus();
    await this.offerDemo();
  }

  /** Show the demo people only where the server accepts them. */
  async offerDemo() {
    let health = null;
    try {
      health = await this.#page.api.json("GET", "/healthz");
    } catch {
      health = null; // an unhealthy server still takes a token
    }
    this.#demo.hidden = health?.dev_tokens !== true;
    if (this.#demo.hidden) return;
    const { language } = this.#page;
    byId("signin-people").replaceChildren(...DEV_TOKENS.map((token) =>
      h("button", { type: "button", class: "button quiet", data: { token }, text: language.t(`dev.${token}`), on: { click: () => this.#use(token) } })));
  }

  #use(token) {
    if (token === "") return this.#field.focus();
    this.#store.setItem(KEY, token);
    return this.#onToken(token);
  }
}
