-- Reading the trail.

-- name: audit_entries
-- One run's entries for its owner, in order.
SELECT n, kind, data, encode(hash, 'hex') AS hash
FROM yuzui.audit
WHERE run_id = %(run_id)s AND tenant = %(tenant)s AND user_id = %(user)s
ORDER BY n

-- name: owns_run
-- Whether the owner has such a run; one of which nothing is recorded yet has an empty trail.
SELECT id
FROM yuzui.runs
WHERE id = %(run_id)s AND tenant = %(tenant)s AND user_id = %(user)s
