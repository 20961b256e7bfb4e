-- Who works, and what the dead left behind.

-- name: enter_worker
-- A process begins to work.
INSERT INTO yuzui.workers (id, host_id, pid, pid_start, lease_until)
VALUES (%(id)s, %(host_id)s, %(pid)s, %(pid_start)s, now() + make_interval(secs => %(lease_s)s))

-- name: beat
-- Renews the lease. No row when the worker has been removed, so it must not go on.
UPDATE yuzui.workers
SET heartbeat_at = now(), lease_until = now() + make_interval(secs => %(lease_s)s)
WHERE id = %(id)s AND stopped_at IS NULL
RETURNING id

-- name: leave_worker
-- A process says goodbye: what it still holds is free at once.
UPDATE yuzui.workers
SET stopped_at = now()
WHERE id = %(id)s AND stopped_at IS NULL

-- name: local_workers
-- Workers of one machine that have not said goodbye, to look for their processes.
SELECT id, pid, pid_start
FROM yuzui.workers
WHERE host_id = %(host_id)s AND stopped_at IS NULL AND id <> %(id)s

-- name: bury
-- Marks workers whose process is gone.
UPDATE yuzui.workers
SET stopped_at = now()
WHERE id = ANY(%(ids)s) AND stopped_at IS NULL

-- name: forget_workers
-- Removes workers that ended long ago and hold nothing.
DELETE FROM yuzui.workers w
WHERE coalesce(w.stopped_at, w.lease_until) < now() - interval '1 day'
    AND NOT EXISTS (SELECT 1 FROM yuzui.runs r WHERE r.worker_id = w.id AND r.status = 'running')

-- name: orphans
-- Running runs nobody works on: their worker is gone, or it is this one and has no pen for them any more.
SELECT r.id, h.token
FROM yuzui.runs r
JOIN yuzui.run_heads h ON h.run_id = r.id
LEFT JOIN yuzui.workers w ON w.id = r.worker_id
WHERE r.status = 'running'
    AND (
        w.id IS NULL
        OR w.stopped_at IS NOT NULL
        OR w.lease_until <= now()
        OR (w.id = %(id)s AND r.id <> ALL(%(held)s) AND r.created_at < now() - make_interval(secs => %(grace_s)s))
    )

-- name: requeue
-- Takes an orphan from its worker, under its head's lock, when nothing has changed since it was found.
WITH head AS MATERIALIZED (
    UPDATE yuzui.run_heads h
    SET token = NULL
    WHERE h.run_id = %(run_id)s AND h.token IS NOT DISTINCT FROM %(token)s
    RETURNING h.run_id
)
UPDATE yuzui.runs r
SET status = 'queued', worker_id = NULL, restart_reason = 'worker_lost', not_before = NULL
FROM head
WHERE r.id = head.run_id AND r.status = 'running'
RETURNING r.id, r.attempt

-- name: queued
-- Queued runs whose turn it is, oldest first: a job may have been lost, or a wish to cancel is open.
SELECT r.id, r.attempt, r.cancel_requested_by, r.cancel_reason, r.created_at < now() - interval '2 seconds' AS old
FROM yuzui.runs r
JOIN yuzui.sessions s ON s.id = r.session_id AND s.active_run_id = r.id
WHERE r.status = 'queued' AND (r.not_before IS NULL OR r.not_before <= now())
ORDER BY r.created_at
LIMIT %(limit)s

-- name: stuck_sessions
-- Sessions with queued runs whose active run has ended or is gone: the hand-on was lost.
SELECT DISTINCT r.session_id
FROM yuzui.runs r
JOIN yuzui.sessions s ON s.id = r.session_id
LEFT JOIN yuzui.runs a ON a.id = s.active_run_id
WHERE r.status = 'queued' AND (a.id IS NULL OR a.status NOT IN ('queued', 'running'))
LIMIT %(limit)s

-- name: expire_actions
-- Pending actions past their time become `expired`, with an entry in the audit; one that is executing is never touched.
WITH expired AS (
    UPDATE yuzui.actions a
    SET status = 'expired', decided_by = 'system', settled_at = now()
    WHERE a.status = 'pending' AND a.expires_at <= now()
    RETURNING a.id, a.run_id, a.tenant, a.user_id
)
INSERT INTO yuzui.audit (run_id, tenant, user_id, kind, data)
SELECT e.run_id, e.tenant, e.user_id, 'confirmation',
    json_build_object('action_id', e.id, 'by', 'system', 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'decision', 'expired')
FROM expired e
