-- What people say about answers, and which apps have laid out their demo data.

-- One word per run, the later one counts (R-ROUTE-11). It goes when the run goes: a comment is a person's text.
CREATE TABLE yuzui.feedback (
    run_id text PRIMARY KEY REFERENCES yuzui.runs (id) ON DELETE CASCADE,
    tenant text NOT NULL,
    user_id text NOT NULL,
    rating smallint NOT NULL CHECK (rating IN (-1, 1)),
    comment text NOT NULL DEFAULT '',
    correct_intent text,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- An app's demo data is laid out once, also when it was deleted since.
CREATE TABLE yuzui.seeded_apps (
    app text PRIMARY KEY,
    seeded_at timestamptz NOT NULL DEFAULT now()
);
