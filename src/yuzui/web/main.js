// Puts the page together: language, sign-in, sidebar, conversation, message box.

import { Api } from "./api.js";
import { Composer } from "./composer.js";
import { Conversation, welcome } from "./conversation.js";
import { byId } from "./dom.js";
import { Language } from "./i18n.js";
import { Network } from "./network.js";
import { partsOf, problemBox } from "./problem.js";
import { Sidebar } from "./sidebar.js";
import { SignIn } from "./signin.js";

const APP_KEY = "yuzui.app";
const PRODUCT = "Yuzui";

class Page {
  #apps = [];
  #sessions = [];
  #app = null;
  language = new Language({ store: localStorage, preferred: navigator.languages ?? [navigator.language] });
  api = new Api({ token: () => this.signIn.token, language: () => this.language.tag });
  signIn = new SignIn({ page: this, store: sessionStorage, onToken: () => this.#enter() });
  network = new Network({ page: this });
  composer = new Composer({ onSend: (text) => this.send(text), onStop: () => this.conversation.cancel() });
  sidebar = new Sidebar({
    page: this,
    handlers: {
      app: (name) => this.#chooseApp(name),
      open: (id) => (location.hash = `#/${id}`),
      fresh: () => this.#fresh(),
      remove: (id) => this.#remove(id),
    },
  });
  conversation = new Conversation({
    page: this,
    log: byId("log"),
    scroller: byId("scroller"),
    handlers: {
      changed: () => this.#changed(),
      network: (state) => this.#heard(state),
      created: (session) => this.#created(session),
      announce: (text) => this.#announce(text),
      title: () => this.#reloadSessions(),
    },
  });

  /** Begin: in the reader's language, signed in when this tab has a token. */
  async start() {
    byId("language").addEventListener("click", () => this.#switchLanguage());
    byId("signin-language").addEventListener("click", () => this.#switchLanguage());
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address names the open session
      this.composer.focus();
    });
    byId("signout").addEventListener("click", () => this.#leave());
    addEventListener("hashchange", () => this.#followHash());
    this.#translate();
    if (this.signIn.token) await this.#enter();
    else await this.signIn.show();
  }

  /** The chosen app `{name, title, examples, tools?}`, or null before the list is here. */
  app() {
    return this.#app;
  }

  /** Send a message, typed or chosen. */
  send = (text) => {
    const sent = this.conversation.send(text);
    if (sent) this.composer.focus();
    return sent;
  };

  async #enter() {
    try {
      const [apps, sessions] = await Promise.all([this.api.json("GET", "/v1/apps"), this.api.json("GET", "/v1/sessions?limit=100")]);
      this.#apps = apps.items;
      this.#sessions = sessions.items;
    } catch (error) {
      await this.#notIn(error);
      return;
    }
    const wanted = sessionStorage.getItem(APP_KEY);
    this.#app = this.#apps.find((item) => item.name === wanted) ?? this.#apps[0] ?? null;
    this.signIn.hide();
    this.#showProblem(null);
    await this.#followHash();
    this.composer.focus();
  }

  async #notIn(error) {
    const parts = partsOf(error);
    if (error.status === 401) {
      this.signIn.forget();
      await this.signIn.show({ refused: true });
      return;
    }
    this.signIn.hide();
    this.#showProblem({ ...parts, retryable: true }, () => this.#enter());
  }

  #leave() {
    this.signIn.forget();
    this.conversation.clear();
    history.replaceState(null, "", location.pathname);
    this.signIn.show();
  }

  #fresh() {
    this.conversation.clear();
    history.replaceState(null, "", location.pathname);
    this.#showProblem(null);
    this.#show();
    this.composer.focus();
  }

  #chooseApp(name) {
    this.#app = this.#apps.find((item) => item.name === name) ?? this.#app;
    sessionStorage.setItem(APP_KEY, name);
    this.#fresh();
  }

  async #followHash() {
    const id = /^#\/(ses_[\w-]+)$/.exec(location.hash)?.[1] ?? null;
    if (!this.signIn.token || (id !== null && id === this.conversation.session?.id)) return;
    this.#showProblem(null);
    if (id === null) {
      this.#fresh();
      return;
    }
    const known = this.#sessions.find((session) => session.id === id);
    if (known) this.#app = this.#apps.find((item) => item.name === known.app) ?? this.#app;
    this.#show(id);
    try {
      await this.conversation.open(id);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#showProblem(partsOf(error), () => this.#followHash());
    }
    this.#show();
  }

  async #remove(id) {
    try {
      await this.api.json("DELETE", `/v1/sessions/${encodeURIComponent(id)}`);
    } catch (error) {
      this.#showProblem(partsOf(error));
      return;
    }
    this.#sessions = this.#sessions.filter((session) => session.id !== id);
    if (this.conversation.session?.id === id) this.#fresh();
    else this.#show();
  }

  #created(session) {
    this.#sessions = [session, ...this.#sessions];
    history.replaceState(null, "", `#/${session.id}`);
    this.#show(session.id);
  }

  async #reloadSessions() {
    try {
      this.#sessions = (await this.api.json("GET", "/v1/sessions?limit=100")).items;
    } catch (error) {
      if (!partsOf(error).retryable) throw error; // a title that comes late is no fault worth a message
    }
    this.#show();
  }

  #heard(state) {
    this.network.show(state);
    if (state.name === "failed" && state.problem.status === 401) this.#notIn(state.problem);
  }

  #changed() {
    this.composer.busy = this.conversation.busy;
    const empty = byId("empty");
    const show = this.conversation.empty && this.conversation.session === null;
    if (show && empty.childElementCount === 0) empty.replaceChildren(welcome(this));
    if (!show) empty.replaceChildren();
  }

  #show(current = this.conversation.session?.id ?? null) {
    const app = this.#app?.name ?? null;
    this.sidebar.show({ apps: this.#apps, sessions: this.#sessions, current, app });
    const name = this.language.pick(this.#app?.title) || app || PRODUCT;
    byId("app-title").textContent = name;
    document.title = this.#app ? `${name} · ${PRODUCT}` : PRODUCT;
    byId("empty").replaceChildren();
    this.#changed();
  }

  #showProblem(parts, onRetry = null) {
    byId("page-problem").replaceChildren(...(parts ? [problemBox(parts, { page: this, onRetry })] : []));
  }

  #announce(text) {
    const region = byId("announcer");
    if (region.textContent !== text) region.textContent = text;
  }

  #switchLanguage() {
    this.language.toggle();
    this.#translate();
    this.#show();
    this.conversation.rebuild();
    this.network.draw();
    if (!this.signIn.token) this.signIn.offerDemo();
  }

  #translate() {
    document.documentElement.lang = this.language.tag;
    for (const element of document.querySelectorAll("[data-text]")) element.textContent = this.language.t(element.dataset.text);
    for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", this.language.t(element.dataset.label));
    for (const element of document.querySelectorAll("[data-hint]")) element.setAttribute("placeholder", this.language.t(element.dataset.hint));
  }
}

await new Page().start();
