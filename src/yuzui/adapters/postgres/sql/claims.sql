-- The ledger of side effects (IDEM).

-- name: claim_effect
-- Claims a key for the attempt that holds the run, before the effect. No row when the key exists or the token does not hold.
WITH held AS MATERIALIZED (
    SELECT run_id FROM yuzui.run_heads WHERE run_id = %(run_id)s AND token = %(token)s FOR SHARE
)
INSERT INTO yuzui.claims (key, run_id, tool, tenant, user_id, arguments, token, state)
SELECT %(key)s, held.run_id, %(tool)s, %(tenant)s, %(user)s, %(arguments)s::json, %(token)s, 'claimed'
FROM held
ON CONFLICT (key) DO NOTHING
RETURNING key

-- name: give_up_effect
-- A claim whose attempt is gone has an unknown outcome: it becomes uncertain, and stays that (R-IDEM-02).
UPDATE yuzui.claims c
SET state = 'uncertain', settled_at = now()
WHERE c.key = %(key)s
    AND c.state = 'claimed'
    AND NOT EXISTS (SELECT 1 FROM yuzui.run_heads h WHERE h.run_id = c.run_id AND h.token = c.token)

-- name: get_effect
-- What is known of a key of this owner, and whether the asking attempt holds its run.
SELECT c.key, c.state, c.result
FROM yuzui.claims c
WHERE c.key = %(key)s AND c.tenant = %(tenant)s AND c.user_id = %(user)s
    AND EXISTS (SELECT 1 FROM yuzui.run_heads h WHERE h.run_id = %(run_id)s AND h.token = %(token)s)

-- name: settle_effect
-- What became of a claim. A result that arrives after the claim was given up settles it as well: it is the truth.
UPDATE yuzui.claims
SET state = %(state)s, result = %(result)s::json, settled_at = now()
WHERE key = %(key)s AND state IN ('claimed', 'uncertain')

-- name: open_effect
-- The ledger row inside the write's own transaction; a second one waits here until the first has committed. It needs a run
-- that some attempt works on; its head is not locked, because that would keep the log waiting for the whole write.
-- No row when the key exists or the run has ended.
WITH held AS MATERIALIZED (
    SELECT run_id FROM yuzui.run_heads WHERE run_id = %(run_id)s AND token IS NOT NULL
)
INSERT INTO yuzui.claims (key, run_id, tool, tenant, user_id, arguments, state)
SELECT %(key)s, held.run_id, %(tool)s, %(tenant)s, %(user)s, %(arguments)s::json, 'claimed'
FROM held
ON CONFLICT (key) DO NOTHING
RETURNING key

-- name: earlier_effect
-- The settled row of an earlier execution with this key.
SELECT key, state, result
FROM yuzui.claims
WHERE key = %(key)s AND tenant = %(tenant)s AND user_id = %(user)s

-- name: close_effect
-- The result, in the transaction that wrote it. No row when the run has ended meanwhile: then nothing is to be written.
UPDATE yuzui.claims c
SET state = 'done', result = %(result)s::json, settled_at = now()
WHERE c.key = %(key)s
    AND EXISTS (SELECT 1 FROM yuzui.run_heads h WHERE h.run_id = c.run_id AND h.token IS NOT NULL)
