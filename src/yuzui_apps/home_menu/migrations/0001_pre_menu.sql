-- Families with their members, fridge, recipes and weekly plan. A family is a tenant; every row hangs on a family.
CREATE SCHEMA IF NOT EXISTS menu;

CREATE TABLE menu.families (
    id         text PRIMARY KEY DEFAULT 'fam_' || replace(gen_random_uuid()::text, '-', ''),
    tenant     text NOT NULL UNIQUE,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE menu.members (
    id          text PRIMARY KEY DEFAULT 'mem_' || replace(gen_random_uuid()::text, '-', ''),
    family_id   text NOT NULL REFERENCES menu.families ON DELETE CASCADE,
    username    text,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
    allergies   text[] NOT NULL DEFAULT '{}',
    preferences text[] NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (family_id, name),
    UNIQUE (family_id, username)
);

CREATE TABLE menu.fridge_items (
    id         text PRIMARY KEY DEFAULT 'itm_' || replace(gen_random_uuid()::text, '-', ''),
    family_id  text NOT NULL REFERENCES menu.families ON DELETE CASCADE,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
    amount     numeric NOT NULL CHECK (amount > 0 AND amount <= 100000),
    unit       text NOT NULL CHECK (length(unit) BETWEEN 1 AND 20),
    expires_on date,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX fridge_items_by_family ON menu.fridge_items (family_id, expires_on NULLS LAST, id);

CREATE TABLE menu.recipes (
    id          text PRIMARY KEY DEFAULT 'rec_' || replace(gen_random_uuid()::text, '-', ''),
    family_id   text NOT NULL REFERENCES menu.families ON DELETE CASCADE,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
    minutes     integer NOT NULL CHECK (minutes BETWEEN 1 AND 1440),
    ingredients jsonb NOT NULL DEFAULT '[]',
    allergens   text[] NOT NULL DEFAULT '{}',
    steps       text[] NOT NULL DEFAULT '{}',
    tags        text[] NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (family_id, name)
);

CREATE TABLE menu.plan_entries (
    id         text PRIMARY KEY DEFAULT 'pln_' || replace(gen_random_uuid()::text, '-', ''),
    family_id  text NOT NULL REFERENCES menu.families ON DELETE CASCADE,
    day        date NOT NULL,
    meal       text NOT NULL CHECK (meal IN ('breakfast', 'lunch', 'dinner')),
    dish       text NOT NULL CHECK (length(dish) BETWEEN 1 AND 80),
    recipe_id  text REFERENCES menu.recipes ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (family_id, day, meal, dish)
);
