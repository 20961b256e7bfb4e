// Server-sent events from raw bytes, by the WHATWG rules: lines end at LF, CRLF or CR and nowhere else (U+2028 is text),
// one space after the colon is dropped, comments are ignored, an unfinished event at the end is void.

const LINE_END = /\r\n|\n|\r/g;

export class SseParser {
  #decoder = new TextDecoder("utf-8");
  #buffer = "";
  #skipLineFeed = false;
  #data = [];
  #type = "";
  #onEvent;
  /** The last id seen; comments and frames without an id leave it alone. */
  lastEventId = "";

  /** @param {(event: {id: string, type: string, data: string}) => void} onEvent called once per complete frame */
  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  /** Take the next bytes; a chunk may end anywhere, also inside a character or between CR and LF. */
  push(bytes) {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return;
    if (this.#skipLineFeed && text.startsWith("\n")) text = text.slice(1);
    this.#skipLineFeed = text === "" ? false : text.endsWith("\r");
    this.#buffer += text;
    let start = 0;
    for (const end of this.#buffer.matchAll(LINE_END)) {
      this.#line(this.#buffer.slice(start, end.index));
      start = end.index + end[0].length;
    }
    this.#buffer = this.#buffer.slice(start);
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? "" : line.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.lastEventId = value;
    return undefined;
  }

  #dispatch() {
    const data = this.#data.join("\n");
    const type = this.#type || "message";
    const complete = this.#data.length > 0;
    this.#data = [];
    this.#type = "";
    if (complete) this.#onEvent({ id: this.lastEventId, type, data });
  }
}
