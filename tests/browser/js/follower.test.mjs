// R-EVT-01: whatever happens to the connection, every event is handed on once and in order.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../../src/yuzui/web/api.js";
import { backOff, Follower, storedEvents } from "../../../src/yuzui/web/follower.js";

const COUNT = 9;
const EVENTS = Array.from({ length: COUNT }, (_, index) => ({
  run_id: "run_1", seq: index + 1, type: index + 1 === COUNT ? "run.completed" : "content.delta", data: { text: `第${index + 1}` },
}));
const frame = (event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const offline = () => new Problem({ status: 0, code: "network" });

function body(text, { fail = false } = {}) {
  const parts = [new TextEncoder().encode(text)];
  const read = async () => {
    if (parts.length) return { value: parts.shift(), done: false };
    if (fail) throw new TypeError("network error");
    return { value: undefined, done: true };
  };
  return { body: { getReader: () => ({ read }) } };
}

/** A server with one script entry per request: a function of `after` that returns a response or throws. */
function fakeApi(script) {
  const seen = [];
  const after = (path) => Number(new URL(path, "http://x").searchParams.get("after"));
  const next = (path, headers) => {
    seen.push({ after: after(path), lastEventId: headers?.["Last-Event-ID"] ?? null, stream: headers?.Accept === "text/event-stream" });
    return script[Math.min(seen.length, script.length) - 1](after(path));
  };
  return { seen, send: async (_, path, { headers }) => next(path, headers), json: async (_, path) => next(path, null) };
}

async function run(api, options = {}) {
  const events = [];
  const states = [];
  await new Follower({
    api, runId: "run_1", onEvent: (event) => events.push(event.seq), onState: (state) => states.push(state.name), pause: async () => {}, ...options,
  }).follow();
  return { events, states };
}
const ALL = EVENTS.map((event) => event.seq);
const since = (after, count = COUNT) => EVENTS.slice(after, after + count).map(frame).join("");

test("a clean stream is handed on whole", async () => {
  const { events, states } = await run(fakeApi([(after) => body(since(after))]));
  assert.deepEqual(events, ALL);
  assert.deepEqual(states, ["connecting", "live", "done"]);
});

test("after a cut it resumes behind the last event with Last-Event-ID and no duplicate", async () => {
  const api = fakeApi([() => body(since(0, 4), { fail: true }), (after) => body(since(after - 2))]);
  const { events, states } = await run(api);
  assert.deepEqual(events, ALL);
  assert.deepEqual(api.seen.map((request) => [request.after, request.lastEventId]), [[0, null], [4, "4"]]);
  assert.ok(states.includes("reconnecting"));
});

test("a frame cut in the middle is not taken and comes again", async () => {
  const half = since(0, 3) + frame(EVENTS[3]).slice(0, 30);
  assert.deepEqual((await run(fakeApi([() => body(half), (after) => body(since(after))]))).events, ALL);
});

test("a missing event is not jumped over", async () => {
  const holed = EVENTS.filter((event) => event.seq !== 3).map(frame).join("");
  const api = fakeApi([() => body(holed), (after) => body(since(after))]);
  assert.deepEqual((await run(api)).events, ALL);
  assert.equal(api.seen[1].after, 2);
});

test("only heartbeats do not move the cursor", async () => {
  const api = fakeApi([() => body(since(0, 2)), () => body(": beat\n\n"), (after) => body(since(after))]);
  await run(api);
  assert.deepEqual(api.seen.map((request) => request.after), [0, 2, 2]);
});

test("where streaming fails again and again it polls the same events", async () => {
  const refuse = () => {
    throw offline();
  };
  const page = (after) => ({ items: EVENTS.slice(after, after + 4) });
  const api = fakeApi([refuse, refuse, refuse, page]);
  const { events, states } = await run(api);
  assert.deepEqual(events, ALL);
  assert.deepEqual(api.seen.slice(3).map((request) => request.stream), [false, false, false]);
  assert.ok(states.includes("polling"));
});

test("after a while of polling a stream gets another chance", async () => {
  const refuse = () => {
    throw offline();
  };
  const nothing = Array.from({ length: 20 }, () => () => ({ items: [] }));
  const api = fakeApi([refuse, refuse, refuse, ...nothing, (after) => body(since(after))]);
  assert.deepEqual((await run(api)).events, ALL);
  assert.deepEqual(api.seen.map((request) => request.stream), [true, true, true, ...nothing.map(() => false), true]);
});

test("a stream that opens and stays silent is taken for a buffering proxy and polled", async () => {
  const hang = () => ({ body: { getReader: () => ({ read: () => new Promise((_, reject) => (hang.reject = reject)) }) } });
  const api = fakeApi([hang, () => ({ items: EVENTS })]);
  const send = api.send;
  api.send = async (method, path, options) => {
    options.signal.addEventListener("abort", () => hang.reject?.(new DOMException("cut", "AbortError")));
    return send(method, path, options);
  };
  assert.deepEqual((await run(api, { silenceMs: 5 })).events, ALL);
});

test("a refusal that asking again cannot help ends it", async () => {
  const gone = () => {
    throw new Problem({ status: 404, code: "not_found" });
  };
  const api = fakeApi([gone]);
  assert.deepEqual((await run(api)).states, ["connecting", "failed"]);
  assert.equal(api.seen.length, 1);
});

test("Retry-After is kept", async () => {
  const waits = [];
  const busy = () => {
    throw new Problem({ status: 503, code: "database_unavailable", retryAfter: 7 });
  };
  await run(fakeApi([busy, (after) => body(since(after))]), { pause: async (ms) => waits.push(ms) });
  assert.ok(waits[0] >= 7000);
});

test("an abort stops it quietly", async () => {
  const abort = new AbortController();
  const cut = () => {
    abort.abort();
    throw new DOMException("aborted", "AbortError");
  };
  const { states } = await run(fakeApi([cut]), { signal: abort.signal });
  assert.deepEqual(states, ["connecting"]);
});

test("the delay doubles and is bounded", () => {
  assert.deepEqual([1, 2, 3].map((n) => backOff(n, () => 1)), [400, 800, 1600]);
  assert.equal(backOff(40, () => 1), 15_000);
  assert.ok(backOff(1, () => 0) > 0);
});

test("stored events are read page by page up to the present", async () => {
  const api = fakeApi([(after) => ({ items: EVENTS.slice(after, Math.min(after + 3, 7)) })]);
  assert.deepEqual((await storedEvents(api, "run_1")).map((event) => event.seq), [1, 2, 3, 4, 5, 6, 7]);
});
