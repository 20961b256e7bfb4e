-- The job queue's own schema.

-- name: jobs_lock
-- Two processes never set the queue up at the same time.
SELECT pg_advisory_xact_lock(7236512085474)

-- name: jobs_version
-- The version of the queue's schema, kept as the comment of its namespace; no row when there is none yet.
SELECT coalesce(obj_description(n.oid, 'pg_namespace'), '') AS version
FROM pg_namespace n
WHERE n.nspname = 'procrastinate'

-- name: jobs_create_schema
-- The namespace of the queue.
CREATE SCHEMA IF NOT EXISTS procrastinate

-- name: jobs_search_path
-- The queue's own SQL does not name its namespace.
SET LOCAL search_path TO procrastinate, public
