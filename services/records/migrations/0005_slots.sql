-- Up Migration

-- Which field of a collection the columns k1 to k6 of its records hold. Writers fill a column from its
-- assignment on; it answers queries once those from before are filled too (ready). `dropping`: its values are
-- being removed.
CREATE TABLE IF NOT EXISTS slots (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  slot int2 NOT NULL CHECK (slot BETWEEN 1 AND 6),
  field text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready', 'dropping')),
  is_pinned boolean NOT NULL,
  assigned_at timestamptz NOT NULL,
  -- Null until no writer is left that does not know of the slot.
  is_known boolean NOT NULL DEFAULT false,
  -- The records up to this one are done.
  position uuid,
  ready_at timestamptz,
  -- Of a sample: the share of values that are different.
  distinct_share real NOT NULL DEFAULT 0,
  uses int8 NOT NULL DEFAULT 0,
  used_at timestamptz,
  PRIMARY KEY (project_id, coll_id, slot),
  CONSTRAINT slots_field UNIQUE (project_id, coll_id, field)
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS slots_under_way ON slots (assigned_at) WHERE state <> 'ready';

-- For some changes Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE collections DROP COLUMN IF EXISTS slots;
END $$;

-- The key of a field in a document. A path that leads through an array has the key of arrays: what it
-- reaches has to be looked up in the document.
CREATE OR REPLACE FUNCTION field_key(document jsonb, path text[]) RETURNS jsonb
IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT CASE
    WHEN cardinality(path) = 1 THEN records.slot_key(document -> path[1])
    WHEN EXISTS (SELECT FROM generate_series(1, cardinality(path) - 1) depth
      WHERE jsonb_typeof(document #> path[:depth]) = 'array') THEN '[]'::jsonb
    ELSE records.slot_key(document #> path) END
$$;

CREATE OR REPLACE FUNCTION owner_key(owner_id uuid) RETURNS jsonb
IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$ SELECT coalesce(to_jsonb(owner_id::text), 'null') $$;
