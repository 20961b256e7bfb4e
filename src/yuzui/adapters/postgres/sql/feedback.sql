-- name: add_feedback
-- Stores a person's word about a run of their own; no row when the run is not theirs.
INSERT INTO yuzui.feedback (run_id, tenant, user_id, rating, comment, correct_intent)
SELECT r.id, r.tenant, r.user_id, %(rating)s, %(comment)s, %(correct_intent)s
FROM yuzui.runs r
WHERE r.id = %(run_id)s AND r.tenant = %(tenant)s AND r.user_id = %(user)s
ON CONFLICT (run_id) DO UPDATE
SET rating = EXCLUDED.rating, comment = EXCLUDED.comment, correct_intent = EXCLUDED.correct_intent, created_at = now()
RETURNING run_id

-- name: claim_seed
-- Claims the laying out of an app's demo data in the current transaction; no row when it was done before.
INSERT INTO yuzui.seeded_apps (app) VALUES (%(app)s) ON CONFLICT (app) DO NOTHING RETURNING app
