-- name: family_of
-- The family of an owner, only when the owner is one of its members: the one permission check of the app.
SELECT f.id, f.name, f.created_at
  FROM menu.families f
  JOIN menu.members m ON m.family_id = f.id
 WHERE f.tenant = %(tenant)s AND m.username = %(user)s;

-- name: create_family
-- A family for a tenant that has none.
INSERT INTO menu.families (tenant, name) VALUES (%(tenant)s, %(name)s) RETURNING id, name, created_at;

-- name: family_exists
-- Whether a tenant has a family; for laying out demo data only.
SELECT 1 AS held FROM menu.families WHERE tenant = %(tenant)s;

-- name: rename_family
-- A new name.
UPDATE menu.families SET name = %(name)s WHERE id = %(family)s RETURNING id, name, created_at;

-- name: members
-- The members of a family, oldest first.
SELECT id, username, name, allergies, preferences, created_at FROM menu.members
 WHERE family_id = %(family)s ORDER BY created_at, id;

-- name: member
-- One member.
SELECT id, username, name, allergies, preferences, created_at FROM menu.members
 WHERE family_id = %(family)s AND id = %(id)s;

-- name: add_member
-- A new member.
INSERT INTO menu.members (family_id, username, name, allergies, preferences)
VALUES (%(family)s, %(username)s, %(name)s, %(allergies)s, %(preferences)s)
RETURNING id, username, name, allergies, preferences, created_at;

-- name: change_member
-- Changes what is given and keeps the rest.
UPDATE menu.members
   SET name = coalesce(%(name)s::text, name),
       allergies = coalesce(%(allergies)s::text[], allergies),
       preferences = coalesce(%(preferences)s::text[], preferences)
 WHERE family_id = %(family)s AND id = %(id)s
RETURNING id, username, name, allergies, preferences, created_at;

-- name: remove_member
-- Removes a member who has no login of their own.
DELETE FROM menu.members WHERE family_id = %(family)s AND id = %(id)s AND username IS NULL;
