-- Sessions, messages, runs, their log, pending actions, the ledger of effects, the audit trail, and who works.
--
-- There are no foreign keys between these tables: a run's birth and its ending are one statement each that touches all of
-- them under the row lock of the session or of the run's head, and a check per inserted event would cost more than the
-- insert. What belongs together is removed together (`delete_session`, `prune`).

CREATE SCHEMA IF NOT EXISTS yuzui;

-- A conversation of one owner with one app. Its row lock orders the runs of the session (R-RUN-05): `active_run_id` is the
-- run that may work now (also while it waits for a worker); a session without it has no unfinished run. `last_run_id` is the
-- run accepted last: a run that ends and is not the last one hands the session on.
CREATE TABLE yuzui.sessions (
    id text PRIMARY KEY,
    tenant text NOT NULL,
    user_id text NOT NULL,
    app text NOT NULL,
    title text NOT NULL DEFAULT '',
    memory_status text NOT NULL DEFAULT 'ok' CHECK (memory_status IN ('ok', 'degraded')),
    memory_version integer NOT NULL DEFAULT 0,
    memory_through_message_id text,
    active_run_id text,
    last_run_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_owner ON yuzui.sessions (tenant, user_id, id DESC) WHERE deleted_at IS NULL;

-- What was said. One row per run and role, so a retried attempt cannot write a second answer (R-RUN-03); the key also is the
-- reading order, because ids of runs sort by time and 'user' > 'assistant'.
CREATE TABLE yuzui.messages (
    session_id text NOT NULL,
    run_id text NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    id text NOT NULL,
    text text NOT NULL,
    html text NOT NULL DEFAULT '',
    status text NOT NULL DEFAULT 'ok' CHECK (status IN ('ok', 'cancelled', 'failed')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session_id, run_id, role)
);

-- A run as its readers see it. `worker_id` holds it while it is running. `not_before` is the back-off of a retry.
CREATE TABLE yuzui.runs (
    id text PRIMARY KEY,
    session_id text NOT NULL,
    tenant text NOT NULL,
    user_id text NOT NULL,
    app text NOT NULL,
    kind text NOT NULL DEFAULT 'message' CHECK (kind IN ('message', 'effect')),
    action_id text,
    caller jsonb NOT NULL,
    text text NOT NULL,
    masked integer NOT NULL DEFAULT 0,
    message_id text NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    outcome text,
    attempt integer NOT NULL DEFAULT 0,
    counted boolean NOT NULL DEFAULT true,
    worker_id text,
    not_before timestamptz,
    restart_reason text,
    cancel_requested_by text,
    cancel_reason text,
    route jsonb,
    policy jsonb,
    message json,
    usage jsonb,
    error jsonb,
    pending_action_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
) WITH (fillfactor = 70);
-- The few unfinished runs: limits per caller, sweeps, what a lost worker held.
CREATE INDEX runs_unfinished ON yuzui.runs (tenant, user_id, status) WHERE status IN ('queued', 'running');
-- The next run of a session.
CREATE INDEX runs_queued ON yuzui.runs (session_id, created_at, id) WHERE status = 'queued';
-- Failed runs, newest first: the dead-letter list (R-RUN-04).
CREATE INDEX runs_failed ON yuzui.runs (finished_at DESC, id) WHERE status = 'failed';

-- The narrow hot row of a run. Its lock orders the log: `seq` is assigned under it, so what is visible has no gap and never
-- gains an earlier event (decision 4). `token` is the right of one attempt to write; none means nobody may. `revision`
-- counts that attempt's batches, so that a batch whose commit was not confirmed is never written twice.
CREATE TABLE yuzui.run_heads (
    run_id text PRIMARY KEY,
    token text,
    attempt integer NOT NULL DEFAULT 0,
    last_seq integer NOT NULL DEFAULT 0,
    revision integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The public log. `data` is kept as it was written, byte for byte: what is replayed equals what was seen live.
CREATE TABLE yuzui.events (
    run_id text NOT NULL,
    seq integer NOT NULL,
    type text NOT NULL,
    at timestamptz NOT NULL,
    attempt integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (run_id, seq)
);

-- A client's Idempotency-Key within one session, and so of one owner (R-IDEM-05).
CREATE TABLE yuzui.idempotency_keys (
    session_id text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    run_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session_id, key)
);

-- Pending actions. Nothing but the status, the outcome and who decided changes after the insert.
CREATE TABLE yuzui.actions (
    id text PRIMARY KEY,
    run_id text NOT NULL,
    session_id text NOT NULL,
    app text NOT NULL,
    tenant text NOT NULL,
    user_id text NOT NULL,
    tool text NOT NULL,
    arguments json NOT NULL,
    content_hash text NOT NULL,
    summary text NOT NULL,
    digest text NOT NULL,
    policy_hash text NOT NULL,
    catalog_version text NOT NULL,
    approval text NOT NULL CHECK (approval IN ('self', 'approver')),
    status text NOT NULL CHECK (status IN (
        'pending', 'executing', 'executed', 'rejected', 'expired', 'superseded', 'cancelled', 'failed', 'uncertain'
    )),
    result_run_id text,
    superseded_by text,
    replaces text,
    outcome json,
    decided_by text,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    settled_at timestamptz
);
-- One draft per run, tool and arguments: a restarted attempt finds its own. Replacements by a person are apart.
CREATE UNIQUE INDEX actions_drafted_once ON yuzui.actions (run_id, tool, content_hash) WHERE replaces IS NULL;
CREATE INDEX actions_by_owner ON yuzui.actions (tenant, user_id, id DESC);
CREATE INDEX actions_by_session ON yuzui.actions (session_id);
CREATE INDEX actions_pending ON yuzui.actions (expires_at) WHERE status = 'pending';

-- The ledger of side effects: one row per idempotency key, for ever (IDEM).
CREATE TABLE yuzui.claims (
    key text PRIMARY KEY,
    run_id text NOT NULL,
    tool text NOT NULL,
    tenant text NOT NULL,
    user_id text NOT NULL,
    arguments json NOT NULL,
    token text,
    state text NOT NULL CHECK (state IN ('claimed', 'done', 'failed', 'uncertain')),
    result json,
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_at timestamptz
);
CREATE INDEX claims_unsettled ON yuzui.claims (claimed_at) WHERE state IN ('claimed', 'uncertain');

-- The audit trail: append-only, in order of `n` within its run, kept when the session is deleted. The hash columns hold the
-- chain once a row is sealed.
CREATE TABLE yuzui.audit (
    run_id text NOT NULL,
    n bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tenant text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL,
    data json NOT NULL,
    prev_hash bytea,
    hash bytea,
    PRIMARY KEY (run_id, n)
);

-- The processes that work. A run's worker is gone when its lease has lapsed, when it said goodbye, or when a process on its
-- own machine sees that the (pid, start time) is no more.
CREATE TABLE yuzui.workers (
    id text PRIMARY KEY,
    host_id text NOT NULL,
    pid integer NOT NULL,
    pid_start text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL,
    stopped_at timestamptz
);
