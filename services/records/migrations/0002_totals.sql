-- Up Migration

-- Of the records that a sweep has counted or folded; counted_at is null until it has counted them.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS byte_count int8 NOT NULL DEFAULT 0;
ALTER TABLE collections ADD COLUMN IF NOT EXISTS counted_at timestamptz;

ALTER TABLE count_delta ADD COLUMN IF NOT EXISTS bytes int8 NOT NULL DEFAULT 0;
-- For some changes Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  -- A sweep empties it every two seconds.
  ALTER TABLE count_delta SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
END $$;

-- Of the counted collections of each project, without what still stands in count_delta.
CREATE TABLE IF NOT EXISTS totals (
  project_id int8 PRIMARY KEY,
  -- The owner of the project; null until a call has told it.
  owner_id text,
  records int8 NOT NULL DEFAULT 0,
  bytes int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS totals_owner ON totals (owner_id);
