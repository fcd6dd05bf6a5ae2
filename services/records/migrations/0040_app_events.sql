-- Up Migration

-- What webhooks of a project want to know of its records, and up to where its log was read for them.
CREATE TABLE IF NOT EXISTS told_projects (
  project_id int8 PRIMARY KEY,
  -- Of what is wanted: the highest one holds.
  version int8 NOT NULL,
  wants jsonb NOT NULL,
  is_told boolean NOT NULL GENERATED ALWAYS AS (wants <> '[]') STORED,
  -- The place in the log.
  xid xid8 NOT NULL,
  seq int8 NOT NULL,
  record_id uuid NOT NULL,
  -- How many events were told: each has the next number.
  number int8 NOT NULL DEFAULT 0
);
