-- Sessions and what was said in them. Every statement holds the owner, compared exactly.

-- name: create_session
-- A new session.
INSERT INTO yuzui.sessions (id, tenant, user_id, app)
VALUES (%(id)s, %(tenant)s, %(user)s, %(app)s)
RETURNING id, tenant, user_id, app, title, memory_status, created_at

-- name: get_session
-- One session.
SELECT id, tenant, user_id, app, title, memory_status, created_at
FROM yuzui.sessions
WHERE id = %(id)s AND tenant = %(tenant)s AND user_id = %(user)s AND deleted_at IS NULL

-- name: list_sessions
-- A page of an owner's sessions, newest first.
SELECT id, tenant, user_id, app, title, memory_status, created_at
FROM yuzui.sessions
WHERE tenant = %(tenant)s AND user_id = %(user)s AND deleted_at IS NULL
    AND (%(after)s::text IS NULL OR id < %(after)s)
ORDER BY id DESC
LIMIT %(limit)s

-- name: mark_deleted
-- The first step of a removal: from now on nobody can add to the session. Returns its unfinished runs.
WITH gone AS (
    UPDATE yuzui.sessions
    SET deleted_at = now()
    WHERE id = %(id)s AND tenant = %(tenant)s AND user_id = %(user)s AND deleted_at IS NULL
    RETURNING id
)
SELECT gone.id, r.id AS run_id
FROM gone
LEFT JOIN yuzui.messages m ON m.session_id = gone.id AND m.role = 'user'
LEFT JOIN yuzui.runs r ON r.id = m.run_id AND r.status IN ('queued', 'running')

-- name: remove_session
-- Removes a session that was marked, with its messages, runs, log, drafts and keys. The audit and the ledger stay.
WITH gone AS MATERIALIZED (
    DELETE FROM yuzui.sessions
    WHERE id = %(id)s AND deleted_at IS NOT NULL
    RETURNING id
), said AS MATERIALIZED (
    DELETE FROM yuzui.messages m USING gone WHERE m.session_id = gone.id RETURNING m.run_id
), keys AS (
    DELETE FROM yuzui.idempotency_keys k USING gone WHERE k.session_id = gone.id
), drafts AS (
    DELETE FROM yuzui.actions a USING gone WHERE a.session_id = gone.id
), heads AS (
    DELETE FROM yuzui.run_heads h WHERE h.run_id IN (SELECT run_id FROM said)
), events AS (
    DELETE FROM yuzui.events e WHERE e.run_id IN (SELECT run_id FROM said)
)
DELETE FROM yuzui.runs r WHERE r.id IN (SELECT run_id FROM said)

-- name: list_messages
-- A page of a session's messages in order of time. The cursor is the id of the last message seen.
SELECT m.id, m.session_id, m.run_id, m.role, m.text, m.html, m.status, m.created_at
FROM yuzui.messages m
WHERE m.session_id = %(id)s
    AND (
        %(after)s::text IS NULL
        OR (m.run_id, m.role = 'assistant') > (
            SELECT c.run_id, c.role = 'assistant' FROM yuzui.messages c WHERE c.session_id = %(id)s AND c.id = %(after)s
        )
    )
ORDER BY m.run_id, m.role DESC
LIMIT %(limit)s

-- name: recent_messages
-- The messages of the last turns before a run, oldest first; only those rows are read.
SELECT m.id, m.session_id, m.run_id, m.role, m.text, m.html, m.status, m.created_at
FROM yuzui.messages m
JOIN yuzui.sessions s ON s.id = m.session_id AND s.tenant = %(tenant)s AND s.user_id = %(user)s
WHERE m.session_id = %(id)s AND m.run_id IN (
    SELECT u.run_id
    FROM yuzui.messages u
    WHERE u.session_id = %(id)s AND u.run_id < %(before_run)s AND u.role = 'user'
    ORDER BY u.run_id DESC
    LIMIT %(turns)s
)
ORDER BY m.run_id, m.role DESC
