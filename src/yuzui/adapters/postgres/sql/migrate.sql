-- The runner's own statements. Everything else of the schema is in migrations.

-- name: lock
-- Held until the end of the transaction, so that two processes never migrate at the same time.
SELECT pg_advisory_xact_lock(7236512085473)

-- name: table_exists
-- Whether the runner's own table exists; it does not on a fresh database.
SELECT to_regclass('yuzui.schema_migrations') IS NOT NULL

-- name: create_schema
-- The platform's own schema; runs under the lock, because IF NOT EXISTS alone races.
CREATE SCHEMA IF NOT EXISTS yuzui

-- name: create_table
-- One row for each applied file.
CREATE TABLE IF NOT EXISTS yuzui.schema_migrations (
    namespace text NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, name)
)

-- name: applied
-- Every applied file.
SELECT namespace, name, checksum FROM yuzui.schema_migrations

-- name: record
-- Notes that a file was applied, in the transaction that applied it.
INSERT INTO yuzui.schema_migrations (namespace, name, checksum) VALUES (%(namespace)s, %(name)s, %(checksum)s)
