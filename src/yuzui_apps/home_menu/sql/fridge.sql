-- name: fridge
-- What is in the fridge, what expires first on top; keyset pages by (expiry, id).
SELECT id, name, amount, unit, expires_on, created_at FROM menu.fridge_items
 WHERE family_id = %(family)s
   AND (%(after)s::text IS NULL
        OR (coalesce(expires_on, 'infinity'::date), id)
           > (SELECT coalesce(a.expires_on, 'infinity'::date), a.id FROM menu.fridge_items a WHERE a.id = %(after)s AND a.family_id = %(family)s))
 ORDER BY coalesce(expires_on, 'infinity'::date), id
 LIMIT %(limit)s;

-- name: fridge_item
-- One item.
SELECT id, name, amount, unit, expires_on, created_at FROM menu.fridge_items WHERE family_id = %(family)s AND id = %(id)s;

-- name: add_item
-- Puts something into the fridge.
INSERT INTO menu.fridge_items (family_id, name, amount, unit, expires_on)
VALUES (%(family)s, %(name)s, %(amount)s, %(unit)s, %(expires_on)s)
RETURNING id, name, amount, unit, expires_on, created_at;

-- name: change_item
-- Changes what is given and keeps the rest.
UPDATE menu.fridge_items
   SET name = coalesce(%(name)s::text, name), amount = coalesce(%(amount)s::numeric, amount),
       unit = coalesce(%(unit)s::text, unit), expires_on = coalesce(%(expires_on)s::date, expires_on)
 WHERE family_id = %(family)s AND id = %(id)s
RETURNING id, name, amount, unit, expires_on, created_at;

-- name: remove_item
-- Takes an item out.
DELETE FROM menu.fridge_items WHERE family_id = %(family)s AND id = %(id)s;
