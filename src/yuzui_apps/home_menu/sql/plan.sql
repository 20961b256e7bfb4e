-- name: plan
-- The dishes planned from one day to another, both included.
SELECT id, day, meal, dish, recipe_id, created_at FROM menu.plan_entries
 WHERE family_id = %(family)s AND day BETWEEN %(first)s AND %(last)s
 ORDER BY day, array_position(ARRAY['breakfast', 'lunch', 'dinner'], meal), dish;

-- name: plan_dish
-- Plans a dish.
INSERT INTO menu.plan_entries (family_id, day, meal, dish, recipe_id)
VALUES (%(family)s, %(day)s, %(meal)s, %(dish)s, (SELECT id FROM menu.recipes WHERE family_id = %(family)s AND name = %(dish)s))
RETURNING id, day, meal, dish, recipe_id, created_at;

-- name: unplan_dish
-- Takes a dish off the plan.
DELETE FROM menu.plan_entries WHERE family_id = %(family)s AND id = %(id)s;
