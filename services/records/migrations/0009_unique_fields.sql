-- Up Migration

-- Fields of which no two records of a collection have the same value. Writers claim their values from the
-- assignment on; those from before are claimed in the background, then it is ready. `failed`: two records had
-- the same value, and nothing is claimed. `dropping`: its claims are being removed.
CREATE TABLE IF NOT EXISTS unique_fields (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  -- The epoch that began with it: no other field of the collection gets the same one.
  number int4 NOT NULL,
  field text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready', 'failed', 'dropping')),
  -- Whether no writer is left that does not know of the state.
  is_known boolean NOT NULL DEFAULT false,
  -- The records up to this one are done.
  position uuid,
  -- Of a failed one: two records with the same value.
  duplicates uuid[],
  PRIMARY KEY (project_id, coll_id, number)
);
CREATE INDEX IF NOT EXISTS unique_fields_under_way ON unique_fields (number)
  WHERE state IN ('building', 'dropping');

-- Which record has a value of a unique field. A value is kept as its hash, because a B-tree entry has at most
-- 2,704 bytes.
CREATE TABLE IF NOT EXISTS unique_values (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  number int4 NOT NULL,
  key bytea NOT NULL,
  record_id uuid NOT NULL,
  PRIMARY KEY (project_id, coll_id, number, key)
);

-- Equal values have equal keys: 1 and 1.0 do. Null is no value.
CREATE OR REPLACE FUNCTION unique_key(v jsonb) RETURNS bytea
IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT CASE jsonb_typeof(v) WHEN 'null' THEN NULL
    WHEN 'number' THEN sha256(convert_to(trim_scale(v::numeric)::text, 'UTF8'))
    ELSE sha256(convert_to(v::text, 'UTF8')) END
$$;
