-- Reading the log.

-- name: read_events
-- Events of one run after a sequence number, in order.
SELECT run_id, seq, type, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), attempt, data::text
FROM yuzui.events
WHERE run_id = %(run_id)s AND seq > %(after)s
ORDER BY seq
LIMIT %(limit)s

-- name: last_seqs
-- How far the watched runs have come, for the slow poll.
SELECT run_id, last_seq
FROM yuzui.run_heads
WHERE run_id = ANY(%(run_ids)s)
