// The line over the message box that says whether the page hears the server.

import { byId } from "./dom.js";

const GOOD_NEWS_MS = 2_500;

export class Network {
  #line = byId("network");
  #page;
  #name = "done";
  #timer = null;

  constructor({ page }) {
    this.#page = page;
    addEventListener("online", () => this.draw());
    addEventListener("offline", () => this.draw());
  }

  /** Take a follower's state. */
  show({ name }) {
    const before = this.#name;
    if (name === "connecting" && before === "reconnecting") return;
    this.#name = name;
    clearTimeout(this.#timer);
    if (before === "reconnecting" && (name === "live" || name === "done")) {
      this.#write("back");
      this.#timer = setTimeout(() => this.draw(), GOOD_NEWS_MS);
      return;
    }
    this.draw();
  }

  /** Draw the present state in the present language. */
  draw() {
    if (!navigator.onLine) this.#write("offline");
    else if (this.#name === "reconnecting" || this.#name === "polling") this.#write(this.#name);
    else this.#write(null);
  }

  #write(state) {
    const text = state ? this.#page.language.t(`net.${state}`) : "";
    this.#line.dataset.state = state ?? "";
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }
}
