-- name: recipes
-- Recipes whose name, ingredients or tags hold the words, without the named allergens; keyset pages by name.
SELECT id, name, minutes, ingredients, allergens, steps, tags, created_at FROM menu.recipes
 WHERE family_id = %(family)s
   AND (%(words)s::text[] IS NULL
        OR EXISTS (SELECT 1 FROM unnest(%(words)s::text[]) w
                    WHERE strpos(lower(name || ' ' || array_to_string(tags, ' ')), lower(w)) > 0
                       OR EXISTS (SELECT 1 FROM jsonb_array_elements(ingredients) i WHERE strpos(lower(i ->> 'name'), lower(w)) > 0)))
   AND NOT allergens && %(without)s::text[]
   AND (%(after)s::text IS NULL OR name > (SELECT a.name FROM menu.recipes a WHERE a.id = %(after)s AND a.family_id = %(family)s))
 ORDER BY name
 LIMIT %(limit)s;

-- name: recipe
-- One recipe.
SELECT id, name, minutes, ingredients, allergens, steps, tags, created_at FROM menu.recipes
 WHERE family_id = %(family)s AND id = %(id)s;

-- name: add_recipe
-- A new recipe.
INSERT INTO menu.recipes (family_id, name, minutes, ingredients, allergens, steps, tags)
VALUES (%(family)s, %(name)s, %(minutes)s, %(ingredients)s::jsonb, %(allergens)s, %(steps)s, %(tags)s)
RETURNING id, name, minutes, ingredients, allergens, steps, tags, created_at;

-- name: remove_recipe
-- Removes a recipe; planned dishes keep their names.
DELETE FROM menu.recipes WHERE family_id = %(family)s AND id = %(id)s;
