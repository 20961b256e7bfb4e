// R-UI-01, R-EVT-01: what the page shows is a pure function of the events.
import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyView, ended, reduce } from "../../../src/yuzui/web/view.js";

function log(...entries) {
  return entries.map(([type, data = {}], index) => ({
    run_id: "run_1", seq: index + 1, type, at: `2026-01-01T00:00:0${index % 10}Z`, attempt: 1, data,
  }));
}
const play = (events, view = emptyView("run_1")) => events.reduce(reduce, view);

const KNOWLEDGE = log(
  ["run.created", { status: "queued" }],
  ["run.started", { attempt: 1 }],
  ["route.decided", { intent: "advice", confidence: 0.9, source: "rule" }],
  ["policy.compiled", { mode: "bounded_react", budget: { model_calls: 3 } }],
  ["tool.started", { call_id: "c1", tool: "knowledge_retrieval", arguments: { query: "蛋白质" } }],
  ["tool.finished", { call_id: "c1", tool: "knowledge_retrieval", outcome: "ok", observation: "2 passages", duration_ms: 40, reused: false }],
  ["content.delta", { message_id: "m1", text: "蛋白" }],
  ["content.delta", { message_id: "m1", text: "质" }],
  ["citation.added", { n: 2, title: "B" }],
  ["citation.added", { n: 1, title: "A" }],
  ["message.completed", { message_id: "m1", text: "蛋白质…", html: "<p>蛋白质…</p>", citations: [], cards: [], source: "model" }],
  ["run.completed", { outcome: "answered", usage: { model_calls: 2 } }],
);

test("a whole run ends as an answer with its steps, sources and usage", () => {
  const view = play(KNOWLEDGE);
  assert.equal(view.status, "succeeded");
  assert.equal(view.outcome, "answered");
  assert.equal(view.text, "蛋白质…");
  assert.deepEqual(view.citations.map((citation) => citation.n), [1, 2]);
  assert.deepEqual(view.steps.map((step) => [step.tool, step.state, step.durationMs]), [["knowledge_retrieval", "done", 40]]);
  assert.equal(view.usage.model_calls, 2);
  assert.ok(ended(view));
});

test("a replay of events that were seen returns the very same state", () => {
  const half = play(KNOWLEDGE.slice(0, 8));
  assert.equal(play(KNOWLEDGE.slice(0, 8), half), half);
  assert.deepEqual(play(KNOWLEDGE, half), play(KNOWLEDGE));
});

test("every prefix followed by the rest gives the same end", () => {
  for (let cut = 0; cut <= KNOWLEDGE.length; cut += 1) {
    assert.deepEqual(play(KNOWLEDGE.slice(Math.max(0, cut - 2)), play(KNOWLEDGE.slice(0, cut))), play(KNOWLEDGE));
  }
});

test("a state that was handed out is never changed", () => {
  const freeze = (value) => {
    if (value !== null && typeof value === "object" && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  freeze(KNOWLEDGE.reduce((view, event) => freeze(reduce(view, event)), freeze(emptyView("run_1"))));
});

test("a reset voids what was streamed", () => {
  const view = play(log(["content.delta", { message_id: "m1", text: "wrong" }], ["content.reset", { message_id: "m1" }],
    ["content.delta", { message_id: "m1", text: "right" }]));
  assert.equal(view.text, "right");
});

test("a restarted run drops the text of the lost attempt and marks its open calls", () => {
  const view = play(log(["run.started", { attempt: 1 }], ["tool.started", { call_id: "c1", tool: "a" }],
    ["content.delta", { message_id: "m1", text: "half" }], ["run.restarted", { attempt: 2, reason: "worker_lost" }]));
  assert.equal(view.text, "");
  assert.equal(view.attempt, 2);
  assert.deepEqual(view.steps.map((step) => step.outcome), ["interrupted"]);
});

test("a call that was turned away before it began is still a step", () => {
  const view = play(log(["tool.finished", { call_id: "c9", tool: "drop_table", outcome: "denied", observation: "no", duration_ms: 0, reused: false }]));
  assert.deepEqual(view.steps.map((step) => [step.tool, step.state, step.outcome]), [["drop_table", "failed", "denied"]]);
});

test("cancelled and failed runs are ended, and nothing after the last event counts", () => {
  const cancelled = play(log(["run.cancelled", { by: "user", reason: "asked" }], ["content.delta", { message_id: "m", text: "late" }]));
  assert.equal(cancelled.status, "cancelled");
  assert.equal(cancelled.text, "");
  assert.equal(play(log(["run.failed", { code: "deadline", detail: "x", retryable: true }])).error.code, "deadline");
});

test("an event type of a later version is kept in the timeline and changes nothing else", () => {
  const view = play(log(["memory.updated", { n: 1 }]));
  assert.equal(view.lastSeq, 1);
  assert.equal(view.timeline[0].type, "memory.updated");
  assert.equal(view.status, "queued");
});

test("neighbouring pieces of text are one line of the timeline", () => {
  const types = play(KNOWLEDGE).timeline.map((entry) => [entry.type, entry.count ?? 1]);
  assert.deepEqual(types.filter(([type]) => type === "content.delta"), [["content.delta", 2]]);
});
