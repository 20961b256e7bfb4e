-- The group commit: one statement for everything that happened in this process within a tick.

-- name: append
-- Appends events and audit records of many runs. A run whose token or revision does not match gets nothing (decision 4).
-- Returns the runs that were written.
WITH head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET revision = h.revision + 1, last_seq = p.last_seq
    FROM json_to_recordset(%(heads)s::json) AS p (run_id text, token text, revision integer, last_seq integer)
    WHERE h.run_id = p.run_id AND h.token = p.token AND h.revision = p.revision
    RETURNING h.run_id
), event AS (
    INSERT INTO yuzui.events (run_id, seq, type, at, attempt, data)
    SELECT e.run_id, e.seq, e.type, e.at, e.attempt, e.data
    FROM json_to_recordset(%(events)s::json) AS e (
        run_id text, seq integer, type text, at timestamptz, attempt integer, data json
    )
    JOIN head ON head.run_id = e.run_id
), entry AS (
    INSERT INTO yuzui.audit (run_id, at, tenant, user_id, kind, data)
    SELECT a.run_id, a.at, a.tenant, a.user_id, a.kind, a.data
    FROM json_to_recordset(%(audit)s::json) AS a (
        n integer, run_id text, at timestamptz, tenant text, user_id text, kind text, data json
    )
    JOIN head ON head.run_id = a.run_id
    ORDER BY a.n
)
SELECT head.run_id, NULL::text AS waiting, (SELECT pg_notify('yuzui_events', %(notice)s))::text
FROM head

-- name: append_and_end
-- The same, and some of the runs end: result, answer, terminal event and the release of the session are one commit with the
-- last events (R-RUN-03). A run that did not succeed takes its pending action with it, and one that was to carry an action
-- out settles it by what the ledger of effects knows: nothing there means that the write was rolled back (R-CONF-03).
-- Returns the runs that were written, and for an ended one its session when other runs wait there.
WITH head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET revision = h.revision + 1,
        last_seq = p.last_seq,
        token = CASE WHEN p.ends THEN NULL ELSE h.token END
    FROM json_to_recordset(%(heads)s::json) AS p (
        run_id text, token text, revision integer, last_seq integer, ends boolean
    )
    WHERE h.run_id = p.run_id AND h.token = p.token AND h.revision = p.revision
    RETURNING h.run_id
), event AS (
    INSERT INTO yuzui.events (run_id, seq, type, at, attempt, data)
    SELECT e.run_id, e.seq, e.type, e.at, e.attempt, e.data
    FROM json_to_recordset(%(events)s::json) AS e (
        run_id text, seq integer, type text, at timestamptz, attempt integer, data json
    )
    JOIN head ON head.run_id = e.run_id
), entry AS (
    INSERT INTO yuzui.audit (run_id, at, tenant, user_id, kind, data)
    SELECT a.run_id, a.at, a.tenant, a.user_id, a.kind, a.data
    FROM json_to_recordset(%(audit)s::json) AS a (
        n integer, run_id text, at timestamptz, tenant text, user_id text, kind text, data json
    )
    JOIN head ON head.run_id = a.run_id
    ORDER BY a.n
), ending AS MATERIALIZED (
    SELECT e.*
    FROM json_to_recordset(%(endings)s::json) AS e (
        run_id text, session_id text, message_id text, status text, outcome text, route jsonb, policy jsonb, message json,
        usage jsonb, error jsonb, pending_action_id text, text text, html text, message_status text
    )
    JOIN head ON head.run_id = e.run_id
), ended AS (
    UPDATE yuzui.runs r
    SET status = e.status, outcome = e.outcome, route = e.route, policy = e.policy, message = e.message, usage = e.usage,
        error = e.error, pending_action_id = e.pending_action_id, worker_id = NULL, finished_at = now()
    FROM ending e
    WHERE r.id = e.run_id
), answer AS (
    INSERT INTO yuzui.messages (session_id, run_id, role, id, text, html, status)
    SELECT e.session_id, e.run_id, 'assistant', e.message_id, e.text, e.html, e.message_status
    FROM ending e
    ON CONFLICT DO NOTHING
), dropped AS (
    UPDATE yuzui.actions a
    SET status = 'cancelled', decided_by = 'system', settled_at = now()
    FROM ending e
    WHERE a.run_id = e.run_id AND a.status = 'pending' AND e.status <> 'succeeded'
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
                'failed'
            )
        END,
        outcome = coalesce(
            (
                SELECT json_build_object('value', c.result -> 'value')
                FROM yuzui.claims c
                WHERE c.key = a.id || ':' || left(a.digest, 32) AND c.state = 'done'
            ),
            json_build_object('code', 'run_' || e.status)
        ),
        settled_at = now()
    FROM ending e
    JOIN yuzui.runs r ON r.id = e.run_id
    WHERE e.status <> 'succeeded'
        AND a.session_id = e.session_id
        AND (
            (a.status = 'executing' AND a.result_run_id = e.run_id)
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
    SET active_run_id = CASE WHEN s.last_run_id = e.run_id THEN NULL ELSE s.active_run_id END
    FROM ending e
    WHERE s.id = e.session_id AND s.active_run_id = e.run_id
    RETURNING e.run_id, s.id, s.last_run_id <> e.run_id AS waiting
)
SELECT
    head.run_id,
    CASE WHEN seat.waiting THEN seat.id END AS waiting,
    (SELECT pg_notify('yuzui_events', %(notice)s))::text
FROM head
LEFT JOIN seat ON seat.run_id = head.run_id

-- name: positions
-- Where heads stand, to tell a batch that was committed unnoticed from one that was fenced out.
SELECT run_id, token, revision
FROM yuzui.run_heads
WHERE run_id = ANY(%(run_ids)s)

-- name: lock_sessions
-- Before a session is handed on: nobody can add a run to it while its next one is looked up.
SELECT id
FROM yuzui.sessions
WHERE id = ANY(%(session_ids)s)
ORDER BY id
FOR UPDATE

-- name: hand_sessions_on
-- Gives sessions whose active run has ended to their oldest queued run. Returns the runs that may start now.
UPDATE yuzui.sessions s
SET active_run_id = (
    SELECT r.id
    FROM yuzui.runs r
    WHERE r.session_id = s.id AND r.status = 'queued'
    ORDER BY r.created_at, r.id
    LIMIT 1
)
WHERE s.id = ANY(%(session_ids)s)
    AND NOT EXISTS (
        SELECT 1
        FROM yuzui.runs a
        WHERE a.id = s.active_run_id AND a.status IN ('queued', 'running')
    )
RETURNING s.active_run_id
