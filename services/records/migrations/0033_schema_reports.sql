-- Up Migration

-- How many records of a collection do not fit its schema, as the last look at all of them has it. It goes with the
-- schema that it is about.
CREATE TABLE IF NOT EXISTS schema_reports (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'done')),
  -- The id of the last record that was looked at.
  position uuid,
  checked int8 NOT NULL DEFAULT 0,
  unfit int8 NOT NULL DEFAULT 0,
  -- [{path, rule, count, example}]
  problems jsonb NOT NULL DEFAULT '[]',
  -- Of problems that found no room there.
  others int8 NOT NULL DEFAULT 0,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (project_id, coll_id)
);
-- By itself: Citus sends the text around it to its nodes, which would be this whole file.
DO $$ BEGIN
  CREATE INDEX IF NOT EXISTS schema_reports_running ON schema_reports (project_id) WHERE state = 'running';
END $$;
