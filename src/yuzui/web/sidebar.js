// Which assistant, and which conversation. On a narrow screen it is a drawer over the page.

import { byId, h } from "./dom.js";

export class Sidebar {
  #page;
  #handlers;
  #picker = byId("app");
  #list = byId("sessions");
  #toggle = byId("nav-toggle");
  #veil = byId("veil");
  #nav = byId("nav");
  #apps = [];
  #sessions = [];
  #current = null;

  /** @param {{page, handlers: {app: (name) => void, open: (id) => void, fresh: () => void, remove: (id) => void}}} options */
  constructor({ page, handlers }) {
    this.#page = page;
    this.#handlers = handlers;
    this.#picker.addEventListener("change", () => handlers.app(this.#picker.value));
    byId("new-session").addEventListener("click", () => {
      this.drawer = false;
      handlers.fresh();
    });
    this.#toggle.addEventListener("click", () => (this.drawer = this.#toggle.getAttribute("aria-expanded") !== "true"));
    this.#veil.addEventListener("click", () => (this.drawer = false));
    this.#nav.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.drawer = false;
    });
  }

  /** Open or close the drawer of narrow screens. */
  set drawer(open) {
    if ((this.#toggle.getAttribute("aria-expanded") === "true") === open) return;
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#nav.classList.toggle("open", open);
    this.#veil.hidden = !open;
    if (open) this.#picker.focus();
    else this.#toggle.focus();
  }

  /** Show these apps and sessions; `current` is the open session's id or null, `app` the chosen app's name. */
  show({ apps, sessions, current, app }) {
    this.#apps = apps;
    this.#sessions = sessions;
    this.#current = current;
    this.#draw(app);
  }

  #draw(app) {
    const { language } = this.#page;
    this.#picker.replaceChildren(...this.#apps.map((item) =>
      h("option", { value: item.name, selected: item.name === app, text: language.pick(item.title) || item.name })));
    this.#picker.value = app ?? "";
    const mine = this.#sessions.filter((session) => session.app === app);
    const rows = mine.map((session) => this.#row(session));
    this.#list.replaceChildren(...(rows.length ? rows : [h("li", { class: "nav-none", text: language.t("nav.none") })]));
  }

  #row(session) {
    const { language } = this.#page;
    const title = session.title || language.t("nav.untitled");
    const open = () => {
      this.drawer = false;
      this.#handlers.open(session.id);
    };
    const remove = () => {
      if (confirm(language.t("nav.delete.ask"))) this.#handlers.remove(session.id);
    };
    return h(
      "li",
      { class: "session" },
      h("button", { type: "button", class: "session-open", "aria-current": session.id === this.#current ? "true" : null,
        title, data: { session: session.id }, text: title, on: { click: open } }),
      h("button", { type: "button", class: "icon-button session-remove", "aria-label": `${language.t("nav.delete")}: ${title}`,
        text: "×", on: { click: remove } }),
    );
  }
}
