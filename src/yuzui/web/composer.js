// The message box: Enter sends, Shift+Enter breaks the line, and an Enter that ends an input method's composition does neither.

import { byId } from "./dom.js";

const KEYCODE_OF_COMPOSITION = 229;
const TALLEST_PX = 220;

export class Composer {
  #form = byId("composer");
  #box = byId("message");
  #send = byId("send");
  #stop = byId("stop");
  #composing = false;
  #onSend;

  /** @param {{onSend: (text: string) => boolean, onStop: () => Promise<void>}} handlers `onSend` says whether the text was taken */
  constructor({ onSend, onStop }) {
    this.#onSend = onSend;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#box.addEventListener("compositionstart", () => (this.#composing = true));
    this.#box.addEventListener("compositionend", () => (this.#composing = false));
    this.#box.addEventListener("input", () => this.#grow());
    this.#stop.addEventListener("click", async () => {
      this.#stop.disabled = true;
      await onStop();
    });
  }

  focus() {
    this.#box.focus();
  }

  /** While a run is under way the stop button takes the send button's place; the box stays editable. */
  set busy(busy) {
    if (this.#stop.hidden === !busy) return;
    const moveFocus = document.activeElement === this.#stop;
    this.#stop.hidden = !busy;
    this.#stop.disabled = false;
    this.#send.hidden = busy;
    if (moveFocus) this.focus();
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    // Safari ends the composition before this key arrives, but still reports 229.
    if (event.isComposing || this.#composing || event.keyCode === KEYCODE_OF_COMPOSITION) return;
    event.preventDefault();
    this.#submit();
  }

  #submit() {
    const text = this.#box.value;
    if (text.trim() === "" || !this.#onSend(text)) return;
    this.#box.value = "";
    this.#grow();
    this.focus();
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight, TALLEST_PX)}px`;
  }
}
