-- Births of runs: one statement for all requests of a moment.

-- name: births
-- Stores each accepted message with its run, head and first events; claimed at birth when that is asked for and the session
-- is free. Returns the runs that were born: no row for a session that is not the caller's, a key used before, or a limit.
-- The order key → session → new rows is the order of every lock taken here. At most one birth per session in a batch.
WITH birth AS MATERIALIZED (
    SELECT b.*
    FROM json_to_recordset(%(births)s::json) AS b (
        id text, session_id text, tenant text, user_id text, app text, kind text, action_id text, caller jsonb, text text,
        masked integer, message_id text, user_message_id text, key text, body_hash text, claim boolean, counted boolean,
        token text
    )
), busy AS MATERIALIZED (
    -- Unfinished runs of each caller of this batch, counted once and only up to the limit.
    SELECT c.tenant, c.user_id, (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM yuzui.runs r
            WHERE r.tenant = c.tenant AND r.user_id = c.user_id AND r.status IN ('queued', 'running') AND r.counted
            LIMIT %(per_caller)s
        ) held
    ) AS unfinished
    FROM (SELECT DISTINCT b.tenant, b.user_id FROM birth b WHERE b.counted) c
), waiting AS MATERIALIZED (
    SELECT count(*) AS queued
    FROM (SELECT 1 FROM yuzui.runs r WHERE r.status = 'queued' LIMIT %(queue)s) held
), permitted AS MATERIALIZED (
    SELECT b.id
    FROM birth b
    CROSS JOIN LATERAL (
        -- OFFSET 0 keeps this a look-up by key for each birth: as a plain join it was planned from the sessions' side.
        SELECT s.active_run_id
        FROM yuzui.sessions s
        WHERE s.id = b.session_id AND s.tenant = b.tenant AND s.user_id = b.user_id AND s.app = b.app AND s.deleted_at IS NULL
        OFFSET 0
    ) s
    WHERE NOT b.counted
        OR (
            EXISTS (
                SELECT 1
                FROM busy
                WHERE busy.tenant = b.tenant AND busy.user_id = b.user_id AND busy.unfinished < %(per_caller)s
            )
            AND ((b.claim AND s.active_run_id IS NULL) OR (SELECT w.queued FROM waiting w) < %(queue)s)
        )
), keyed AS MATERIALIZED (
    INSERT INTO yuzui.idempotency_keys (session_id, key, body_hash, run_id)
    SELECT b.session_id, b.key, b.body_hash, b.id
    FROM birth b
    JOIN permitted p ON p.id = b.id
    WHERE b.key IS NOT NULL
    ORDER BY b.session_id, b.key
    ON CONFLICT DO NOTHING
    RETURNING run_id
), seat AS MATERIALIZED (
    UPDATE yuzui.sessions s
    SET active_run_id = coalesce(s.active_run_id, b.id),
        last_run_id = b.id,
        title = CASE WHEN s.title = '' THEN left(b.text, 60) ELSE s.title END
    FROM birth b
    JOIN permitted p ON p.id = b.id
    WHERE s.id = b.session_id
        AND s.deleted_at IS NULL
        AND (b.key IS NULL OR b.id IN (SELECT run_id FROM keyed))
    RETURNING b.id, b.claim AND s.active_run_id = b.id AS claimed
), run AS (
    INSERT INTO yuzui.runs (
        id, session_id, tenant, user_id, app, kind, action_id, caller, text, masked, message_id, status, attempt, counted,
        worker_id
    )
    SELECT
        b.id, b.session_id, b.tenant, b.user_id, b.app, b.kind, b.action_id, b.caller, b.text, b.masked, b.message_id,
        CASE WHEN seat.claimed THEN 'running' ELSE 'queued' END, seat.claimed::integer, b.counted,
        CASE WHEN seat.claimed THEN %(worker_id)s END
    FROM birth b
    JOIN seat ON seat.id = b.id
), head AS (
    INSERT INTO yuzui.run_heads (run_id, token, attempt, last_seq)
    SELECT b.id, CASE WHEN seat.claimed THEN b.token END, seat.claimed::integer, 1 + seat.claimed::integer
    FROM birth b
    JOIN seat ON seat.id = b.id
), said AS (
    INSERT INTO yuzui.messages (session_id, run_id, role, id, text)
    SELECT b.session_id, b.id, 'user', b.user_message_id, b.text
    FROM birth b
    JOIN seat ON seat.id = b.id
), event AS (
    INSERT INTO yuzui.events (run_id, seq, type, at, attempt, data)
    SELECT seat.id, e.seq, e.type, now(), 1, e.data
    FROM seat
    CROSS JOIN LATERAL (
        VALUES
            (1, 'run.created', CASE WHEN seat.claimed THEN '{"status":"running"}' ELSE '{"status":"queued"}' END::json),
            (2, 'run.started', '{"attempt":1}'::json)
    ) AS e (seq, type, data)
    WHERE e.seq = 1 OR seat.claimed
)
SELECT seat.id, seat.claimed, now()
FROM seat

-- name: unborn
-- Why runs were not born: the session's owner, the run an earlier use of the key made, and whether the very run exists.
SELECT
    b.id,
    s.id IS NOT NULL AS found,
    k.run_id AS earlier,
    k.body_hash,
    r.id IS NOT NULL AS exists
FROM json_to_recordset(%(births)s::json) AS b (
    id text, session_id text, tenant text, user_id text, app text, key text
)
LEFT JOIN yuzui.sessions s
    ON s.id = b.session_id AND s.tenant = b.tenant AND s.user_id = b.user_id AND s.app = b.app AND s.deleted_at IS NULL
LEFT JOIN yuzui.idempotency_keys k ON k.session_id = s.id AND k.key = b.key
LEFT JOIN yuzui.runs r ON r.id = b.id
