-- Up Migration

-- Creates stand in no index by record; of a time there are few, and rows of a time lie together.
DO $$ BEGIN
  CREATE INDEX IF NOT EXISTS changes_by_time ON changes USING brin (seq) WITH (pages_per_range = 16, autosummarize = on);
END $$;
