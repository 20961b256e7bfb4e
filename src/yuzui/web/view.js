// One run as the page shows it: a pure function from (state, event) to the next state. It refuses a repeated `seq`, so a
// replay after a reconnect changes nothing, and it never mutates the state it was given.

/** The state before the first event. */
export function emptyView(runId) {
  return {
    runId,
    lastSeq: 0,
    status: "queued",
    outcome: null,
    attempt: 0,
    messageId: null,
    text: "",
    message: null,
    steps: [],
    citations: [],
    clarification: null,
    confirmation: null,
    route: null,
    policy: null,
    usage: null,
    error: null,
    cancelled: null,
    timeline: [],
  };
}

/** True once the run's last event was seen. */
export function ended(view) {
  return view.status === "succeeded" || view.status === "failed" || view.status === "cancelled";
}

const finishedStep = (data, known) => ({
  callId: data.call_id,
  tool: data.tool ?? known?.tool ?? "",
  arguments: known?.arguments ?? {},
  state: data.outcome === "ok" || data.outcome === "repeat" ? "done" : "failed",
  outcome: data.outcome,
  observation: data.observation ?? "",
  durationMs: data.duration_ms ?? null,
  reused: Boolean(data.reused),
});

function startStep(view, data) {
  const step = {
    callId: data.call_id,
    tool: data.tool,
    arguments: data.arguments ?? {},
    state: "running",
    outcome: null,
    observation: "",
    durationMs: null,
    reused: false,
  };
  const others = view.steps.filter((known) => known.callId !== data.call_id);
  return { ...view, steps: [...others, step] };
}

function finishStep(view, data) {
  const index = view.steps.findIndex((known) => known.callId === data.call_id);
  if (index < 0) return { ...view, steps: [...view.steps, finishedStep(data, null)] };
  return { ...view, steps: view.steps.with(index, finishedStep(data, view.steps[index])) };
}

/** Calls that were under way when the attempt or the run ended will get no end of their own. */
const settleSteps = (steps) =>
  steps.map((step) => (step.state === "running" ? { ...step, state: "failed", outcome: "interrupted" } : step));

function addCitation(view, data) {
  const others = view.citations.filter((known) => known.n !== data.n);
  return { ...view, citations: [...others, data].sort((a, b) => a.n - b.n) };
}

const REDUCERS = {
  "run.created": (view) => ({ ...view, status: "queued" }),
  "run.started": (view, data) => ({ ...view, status: "running", attempt: data.attempt ?? 1 }),
  "run.restarted": (view, data) => ({
    ...view,
    status: "running",
    attempt: data.attempt,
    text: "",
    messageId: null,
    citations: [],
    clarification: null,
    steps: settleSteps(view.steps),
  }),
  "route.decided": (view, data) => ({ ...view, route: data }),
  "policy.compiled": (view, data) => ({ ...view, policy: data }),
  "clarification.required": (view, data) => ({ ...view, clarification: data }),
  "tool.started": startStep,
  "tool.finished": finishStep,
  "citation.added": addCitation,
  "content.delta": (view, data) => ({ ...view, messageId: data.message_id, text: view.text + data.text }),
  "content.reset": (view, data) => ({ ...view, messageId: data.message_id ?? null, text: "" }),
  "message.completed": (view, data) => ({
    ...view,
    messageId: data.message_id,
    text: data.text,
    message: data,
    citations: data.citations?.length ? data.citations : view.citations,
  }),
  "confirmation.required": (view, data) => ({ ...view, confirmation: data }),
  "run.completed": (view, data) => ({
    ...view,
    status: "succeeded",
    outcome: data.outcome,
    usage: data.usage ?? null,
    steps: settleSteps(view.steps),
  }),
  "run.failed": (view, data) => ({ ...view, status: "failed", error: data, steps: settleSteps(view.steps) }),
  "run.cancelled": (view, data) => ({ ...view, status: "cancelled", cancelled: data, steps: settleSteps(view.steps) }),
};

/** The next state. An event that was seen before, or that comes after the last one, returns the same object. */
export function reduce(view, event) {
  if (event.seq <= view.lastSeq || ended(view)) return view;
  const entry = { seq: event.seq, type: event.type, at: event.at, attempt: event.attempt, data: event.data };
  const base = { ...view, lastSeq: event.seq, timeline: joinTimeline(view.timeline, entry) };
  const reducer = REDUCERS[event.type];
  return reducer ? reducer(base, event.data ?? {}) : base;
}

/** Pieces of text are one line in the timeline, however many they were. */
function joinTimeline(timeline, entry) {
  const last = timeline.at(-1);
  if (entry.type !== "content.delta") return [...timeline, entry];
  if (last?.type !== "content.delta") return [...timeline, { ...entry, data: null, count: 1 }];
  return timeline.with(-1, { ...last, count: last.count + 1 });
}
