-- Runs outside their attempts: reading, claiming, handing over, settling.

-- name: get_run
-- One run of an owner. While it works, its route and policy are those of the log.
SELECT
    r.id, r.session_id, r.tenant, r.user_id, r.app, r.kind, r.action_id, r.caller, r.text, r.message_id, r.status, r.outcome,
    r.attempt, r.message, r.usage, r.error, r.pending_action_id, r.cancel_requested_by, r.created_at, r.finished_at,
    CASE WHEN r.status IN ('queued', 'running') THEN (
        SELECT e.data::jsonb FROM yuzui.events e
        WHERE e.run_id = r.id AND e.type = 'route.decided' ORDER BY e.seq DESC LIMIT 1
    ) ELSE r.route END AS route,
    CASE WHEN r.status IN ('queued', 'running') THEN (
        SELECT e.data::jsonb FROM yuzui.events e
        WHERE e.run_id = r.id AND e.type = 'policy.compiled' ORDER BY e.seq DESC LIMIT 1
    ) ELSE r.policy END AS policy
FROM yuzui.runs r
WHERE r.id = %(run_id)s AND r.tenant = %(tenant)s AND r.user_id = %(user)s

-- name: lock_head
-- The first step of every change of a run's fate: whoever holds the head sees the run as it is.
SELECT token
FROM yuzui.run_heads
WHERE run_id = %(run_id)s
FOR UPDATE

-- name: claim_run
-- Claims a queued run that is its session's turn, under its head's lock, and says so in the log. No row: nothing to claim.
WITH run AS MATERIALIZED (
    UPDATE yuzui.runs r
    SET status = 'running', attempt = r.attempt + 1, worker_id = %(worker_id)s, not_before = NULL
    WHERE r.id = %(run_id)s
        AND r.status = 'queued'
        AND r.cancel_requested_by IS NULL
        AND (r.not_before IS NULL OR r.not_before <= now())
        AND EXISTS (SELECT 1 FROM yuzui.sessions s WHERE s.id = r.session_id AND s.active_run_id = r.id)
    RETURNING
        r.id, r.session_id, r.tenant, r.user_id, r.app, r.kind, r.action_id, r.caller, r.text, r.message_id, r.status,
        r.outcome, r.attempt, r.route, r.policy, r.message, r.usage, r.error, r.pending_action_id, r.cancel_requested_by,
        r.created_at, r.finished_at, coalesce(r.restart_reason, 'retry') AS restart_reason
), head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET token = %(token)s, attempt = run.attempt, last_seq = h.last_seq + 1, revision = h.revision + 1
    FROM run
    WHERE h.run_id = run.id
    RETURNING h.run_id, h.last_seq, h.revision
), event AS (
    INSERT INTO yuzui.events (run_id, seq, type, at, attempt, data)
    SELECT
        run.id, head.last_seq,
        CASE WHEN run.attempt = 1 THEN 'run.started' ELSE 'run.restarted' END,
        now(), run.attempt,
        CASE WHEN run.attempt = 1 THEN json_build_object('attempt', run.attempt)
            ELSE json_build_object('attempt', run.attempt, 'reason', run.restart_reason) END
    FROM run
    JOIN head ON head.run_id = run.id
)
SELECT run.*, head.last_seq, head.revision, pg_notify('yuzui_events', run.id)::text AS notified
FROM run
JOIN head ON head.run_id = run.id

-- name: hand_over
-- Gives an unfinished attempt back, under its head's lock, when the token still holds. Returns what has to be known to go on.
WITH head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET token = NULL
    WHERE h.run_id = %(run_id)s AND h.token = %(token)s
    RETURNING h.run_id
)
UPDATE yuzui.runs r
SET status = 'queued', worker_id = NULL, restart_reason = %(reason)s,
    not_before = now() + make_interval(secs => %(delay_s)s)
FROM head
WHERE r.id = head.run_id AND r.status = 'running'
RETURNING r.id, r.attempt, r.cancel_requested_by, r.cancel_reason

-- name: request_cancel
-- Notes a wish to cancel on an unfinished run; the first wish counts. Returns who should act.
UPDATE yuzui.runs r
SET cancel_requested_by = coalesce(r.cancel_requested_by, %(by)s),
    cancel_reason = coalesce(r.cancel_reason, %(reason)s)
WHERE r.id = %(run_id)s
    AND r.status IN ('queued', 'running')
    AND (%(apps)s::text[] IS NULL OR r.app = ANY(%(apps)s))
RETURNING
    r.status, r.worker_id, r.cancel_requested_by, r.cancel_reason,
    r.status = 'running' AND EXISTS (
        SELECT 1 FROM yuzui.workers w
        WHERE w.id = r.worker_id AND w.lease_until > now() AND w.stopped_at IS NULL
    ) AS alive

-- name: settle_run
-- Ends a run that no attempt holds any more (queued, or its worker is gone), under its head's lock: terminal event, result,
-- message, session and actions in one statement. An action it was carrying out is settled by what the ledger knows; with
-- nothing there nobody can tell whether the lost worker's commit still arrives: uncertain (R-CONF-03).
-- No row when it had ended or has a living worker.
WITH target AS MATERIALIZED (
    SELECT r.id, r.session_id, r.message_id
    FROM yuzui.runs r
    WHERE r.id = %(run_id)s
        AND (
            r.status = 'queued'
            OR (
                r.status = 'running'
                AND NOT EXISTS (
                    SELECT 1 FROM yuzui.workers w
                    WHERE w.id = r.worker_id AND w.lease_until > now() AND w.stopped_at IS NULL
                        AND w.id <> ALL(%(gone)s)
                )
            )
        )
), head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET token = NULL, last_seq = h.last_seq + 1
    FROM target t
    WHERE h.run_id = t.id
    RETURNING h.run_id, h.last_seq, h.attempt
), event AS (
    INSERT INTO yuzui.events (run_id, seq, type, at, attempt, data)
    SELECT head.run_id, head.last_seq, %(type)s, now(), greatest(head.attempt, 1), %(data)s::json
    FROM head
), ended AS (
    UPDATE yuzui.runs r
    SET status = %(status)s, worker_id = NULL, finished_at = now(), error = %(error)s::jsonb,
        route = (
            SELECT e.data::jsonb FROM yuzui.events e
            WHERE e.run_id = r.id AND e.type = 'route.decided' ORDER BY e.seq DESC LIMIT 1
        ),
        policy = (
            SELECT e.data::jsonb FROM yuzui.events e
            WHERE e.run_id = r.id AND e.type = 'policy.compiled' ORDER BY e.seq DESC LIMIT 1
        )
    FROM head
    WHERE r.id = head.run_id
), said AS (
    INSERT INTO yuzui.messages (session_id, run_id, role, id, text, status)
    SELECT t.session_id, t.id, 'assistant', t.message_id, '', %(status)s
    FROM target t
    JOIN head ON head.run_id = t.id
    ON CONFLICT DO NOTHING
), dropped AS (
    UPDATE yuzui.actions a
    SET status = 'cancelled', decided_by = 'system', settled_at = now()
    FROM head
    WHERE a.run_id = head.run_id AND a.status = 'pending'
    RETURNING a.id, a.run_id, a.tenant, a.user_id
), drop_entry AS (
    INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
    SELECT d.run_id, d.tenant, d.user_id, 'confirmation',
        json_build_object('action_id', d.id, 'by', 'system', 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', 'cancelled')
    FROM dropped d
), left_open AS (
    UPDATE yuzui.actions a
    SET status = CASE
            WHEN a.status = 'pending' THEN 'cancelled'
            ELSE coalesce(
                (
                    SELECT CASE c.state WHEN 'done' THEN 'executed' WHEN 'failed' THEN 'failed' ELSE 'uncertain' END
                    FROM yuzui.claims c
                    WHERE c.key = a.id || ':' || left(a.digest, 32)
                ),
                'uncertain'
            )
        END,
        outcome = coalesce(
            (
                SELECT json_build_object('value', c.result -> 'value')
                FROM yuzui.claims c
                WHERE c.key = a.id || ':' || left(a.digest, 32) AND c.state = 'done'
            ),
            json_build_object('code', 'run_' || %(status)s::text)
        ),
        settled_at = now()
    FROM target t
    JOIN head ON head.run_id = t.id
    JOIN yuzui.runs r ON r.id = t.id
    WHERE a.session_id = t.session_id
        AND (
            (a.status = 'executing' AND a.result_run_id = t.id)
            OR (a.status = 'pending' AND a.id = r.action_id AND a.expires_at > now())
        )
    RETURNING a.id, a.run_id, a.tenant, a.user_id, a.status
), left_entry AS (
    INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
    SELECT l.run_id, l.tenant, l.user_id, 'confirmation',
        json_build_object('action_id', l.id, 'by', 'system', 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', l.status)
    FROM left_open l
), seat AS MATERIALIZED (
    UPDATE yuzui.sessions s
    SET active_run_id = CASE WHEN s.last_run_id = t.id THEN NULL ELSE s.active_run_id END
    FROM target t
    JOIN head ON head.run_id = t.id
    WHERE s.id = t.session_id AND s.active_run_id = t.id
    RETURNING s.id
)
SELECT t.session_id, pg_notify('yuzui_events', t.id)::text
FROM target t
JOIN head ON head.run_id = t.id

-- name: failed_runs
-- The dead-letter list of an owner: failed runs, newest first.
SELECT id, app, session_id, attempt, error, finished_at
FROM yuzui.runs
WHERE status = 'failed' AND tenant = %(tenant)s AND user_id = %(user)s
ORDER BY finished_at DESC, id DESC
LIMIT %(limit)s

-- name: cancels_wanted
-- Runs a worker holds that somebody wants cancelled.
SELECT id, cancel_requested_by, cancel_reason
FROM yuzui.runs
WHERE status = 'running' AND worker_id = %(worker_id)s AND cancel_requested_by IS NOT NULL
