-- Pending actions. Every transition names the status it starts from; every decision has its entry in the audit.

-- name: create_action
-- Stores a draft when the attempt's token holds. A draft of the same content in the same run is left as it is.
WITH held AS MATERIALIZED (
    SELECT run_id FROM yuzui.run_heads WHERE run_id = %(run_id)s AND token = %(token)s FOR SHARE
)
INSERT INTO yuzui.actions (
    id, run_id, session_id, app, tenant, user_id, tool, arguments, content_hash, summary, digest, policy_hash,
    catalog_version, approval, status, created_at, expires_at
)
SELECT
    %(id)s, held.run_id, %(session_id)s, %(app)s, %(tenant)s, %(user)s, %(tool)s, %(arguments)s::json, %(content_hash)s,
    %(summary)s, %(digest)s, %(policy_hash)s, %(catalog_version)s, %(approval)s, 'pending', %(created_at)s, %(expires_at)s
FROM held
ON CONFLICT (run_id, tool, content_hash) WHERE replaces IS NULL DO NOTHING
RETURNING id

-- name: drafted
-- The draft that exists already; no row tells that the token does not hold.
SELECT a.id, a.run_id, a.session_id, a.app, a.tenant, a.user_id, a.tool, a.arguments, a.summary, a.digest, a.policy_hash,
    a.catalog_version, a.approval, a.status, a.created_at, a.expires_at, a.result_run_id, a.superseded_by, a.outcome
FROM yuzui.actions a
JOIN yuzui.run_heads h ON h.run_id = a.run_id AND h.token = %(token)s
WHERE a.run_id = %(run_id)s AND a.tool = %(tool)s AND a.content_hash = %(content_hash)s AND a.replaces IS NULL

-- name: get_action
-- One action of an owner; an open one past its time reads as expired.
SELECT id, run_id, session_id, app, tenant, user_id, tool, arguments, summary, digest, policy_hash, catalog_version, approval,
    CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END AS status,
    created_at, expires_at, result_run_id, superseded_by, outcome
FROM yuzui.actions
WHERE id = %(id)s AND tenant = %(tenant)s AND user_id = %(user)s

-- name: list_actions
-- A page of an owner's actions, newest first.
SELECT id, run_id, session_id, app, tenant, user_id, tool, arguments, summary, digest, policy_hash, catalog_version, approval,
    CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END AS status,
    created_at, expires_at, result_run_id, superseded_by, outcome
FROM yuzui.actions
WHERE tenant = %(tenant)s AND user_id = %(user)s
    AND (
        %(status)s::text IS NULL
        OR CASE WHEN status = 'pending' AND expires_at <= now() THEN 'expired' ELSE status END = %(status)s
    )
    AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
    AND (%(after)s::text IS NULL OR id < %(after)s)
ORDER BY id DESC
LIMIT %(limit)s

-- name: begin_action
-- pending → executing for one result run, once, when not expired; the same run finds its row again after a restart.
WITH begun AS (
    UPDATE yuzui.actions a
    SET status = 'executing', result_run_id = %(result_run_id)s, decided_by = %(by)s
    WHERE a.id = %(id)s AND a.tenant = %(tenant)s AND a.user_id = %(user)s
        AND a.status = 'pending' AND a.expires_at > now()
    RETURNING a.*
), entry AS (
    INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
    SELECT b.run_id, b.tenant, b.user_id, 'confirmation',
        json_build_object('action_id', b.id, 'by', %(by)s::text, 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', 'confirmed')
    FROM begun b
)
SELECT id, run_id, session_id, app, tenant, user_id, tool, arguments, summary, digest, policy_hash, catalog_version, approval,
    status, created_at, expires_at, result_run_id, superseded_by, outcome
FROM begun
UNION ALL
SELECT id, run_id, session_id, app, tenant, user_id, tool, arguments, summary, digest, policy_hash, catalog_version, approval,
    status, created_at, expires_at, result_run_id, superseded_by, outcome
FROM yuzui.actions
WHERE id = %(id)s AND tenant = %(tenant)s AND user_id = %(user)s
    AND status = 'executing' AND result_run_id = %(result_run_id)s

-- name: settle_action
-- From one status to another, with its audit entry.
WITH settled AS (
    UPDATE yuzui.actions a
    SET status = %(to)s, outcome = coalesce(%(outcome)s::json, a.outcome),
        decided_by = CASE WHEN %(frm)s = 'pending' THEN %(by)s ELSE a.decided_by END, settled_at = now()
    WHERE a.id = %(id)s AND a.status = %(frm)s
        AND (%(frm)s <> 'pending' OR a.expires_at > now() OR %(to)s = 'expired')
    RETURNING a.id, a.run_id, a.tenant, a.user_id
)
INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
SELECT s.run_id, s.tenant, s.user_id, 'confirmation',
    json_build_object('action_id', s.id, 'by', %(by)s::text, 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', %(to)s::text)
FROM settled s

-- name: supersede_action
-- A replacement takes the place of an action that still waits: both rows change together, or none does.
WITH old AS (
    UPDATE yuzui.actions a
    SET status = 'superseded', superseded_by = %(new_id)s, decided_by = %(by)s, settled_at = now()
    WHERE a.id = %(id)s AND a.tenant = %(tenant)s AND a.user_id = %(user)s
        AND a.status = 'pending' AND a.expires_at > now()
    RETURNING a.id, a.run_id, a.session_id, a.tenant, a.user_id
), entry AS (
    INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
    SELECT o.run_id, o.tenant, o.user_id, 'confirmation',
        json_build_object('action_id', o.id, 'by', %(by)s::text, 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', 'superseded')
    FROM old o
)
INSERT INTO yuzui.actions (
    id, run_id, session_id, app, tenant, user_id, tool, arguments, content_hash, summary, digest, policy_hash,
    catalog_version, approval, status, replaces, created_at, expires_at
)
SELECT
    %(new_id)s, old.run_id, old.session_id, %(app)s, old.tenant, old.user_id, %(tool)s, %(arguments)s::json,
    %(content_hash)s, %(summary)s, %(digest)s, %(policy_hash)s, %(catalog_version)s, %(approval)s, 'pending', old.id,
    %(created_at)s, %(expires_at)s
FROM old
RETURNING id
