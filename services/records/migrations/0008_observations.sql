-- Up Migration

-- What lists and counts have cost in a day for want of an index on a field, in all processes together.
CREATE TABLE IF NOT EXISTS observations (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  field text COLLATE "C" NOT NULL,
  scanned_ms float8 NOT NULL,
  -- Lists and counts that one short statement did not answer.
  slow int4 NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (project_id, coll_id, field)
) WITH (fillfactor = 70);
