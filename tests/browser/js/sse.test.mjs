// R-EVT-03, R-UI-01: the page's own parser follows the framing rules byte for byte.
import assert from "node:assert/strict";
import { test } from "node:test";

import { SseParser } from "../../../src/yuzui/web/sse.js";

const bytes = (text) => new TextEncoder().encode(text);

function parse(chunks) {
  const events = [];
  const parser = new SseParser((event) => events.push(event));
  for (const chunk of chunks) parser.push(typeof chunk === "string" ? bytes(chunk) : chunk);
  return { events, parser };
}

test("LF, CRLF and CR end lines alike", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const { events } = parse([`id: 7${end}event: tool.started${end}data: a${end}data: b${end}${end}`]);
    assert.deepEqual(events, [{ id: "7", type: "tool.started", data: "a\nb" }]);
  }
});

test("any way of cutting the bytes gives the same events", () => {
  const whole = bytes("id: 1\r\nevent: content.delta\r\ndata: {\"text\":\"鱼嘴 🐟\"}\r\n\r\n: heartbeat\r\n\r\nid: 2\ndata: 二\n\nid: 3\rdata: x\r\r");
  const expected = parse([whole]).events;
  assert.equal(expected.length, 3);
  for (let first = 0; first <= whole.length; first += 1) {
    assert.deepEqual(parse([whole.slice(0, first), whole.slice(first)]).events, expected, `cut at ${first}`);
  }
  const single = Array.from(whole, (byte) => Uint8Array.of(byte));
  assert.deepEqual(parse(single).events, expected);
});

test("U+2028, U+2029, U+0085 and form feed are text, not line ends", () => {
  const text = "第一步\u2028第二步\u2029第三步\u0085\f\v完";
  assert.equal(parse([`data: ${text}\n\n`]).events[0].data, text);
});

test("only one leading space is dropped and nothing is trimmed", () => {
  assert.equal(parse(["data:   - pid \n\n"]).events[0].data, "  - pid ");
  assert.equal(parse(["data:x\n\n"]).events[0].data, "x");
});

test("comments and frames without an id keep the last id", () => {
  const { events, parser } = parse(["id: 12\ndata: a\n\n", ": beat\n\n", "data: b\n\n"]);
  assert.equal(parser.lastEventId, "12");
  assert.deepEqual(events.map((event) => event.id), ["12", "12"]);
});

test("an id with NUL is ignored", () => {
  const { parser } = parse(["id: 4\ndata: a\n\nid: 5\0\ndata: b\n\n"]);
  assert.equal(parser.lastEventId, "4");
});

test("an unfinished frame is not an event, and an empty frame is none either", () => {
  assert.deepEqual(parse(["event: a\n\nid: 9\ndata: half"]).events, []);
});

test("a field without a colon has an empty value, an unknown field is ignored", () => {
  assert.deepEqual(parse(["data\nretry: 5\nfoo: bar\n\n"]).events, [{ id: "", type: "message", data: "" }]);
});

test("a byte order mark at the start is not part of the first field", () => {
  assert.equal(parse([Uint8Array.of(0xef, 0xbb, 0xbf), "data: a\n\n"]).events[0].data, "a");
});
