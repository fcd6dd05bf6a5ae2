-- Files with all that an owner sets: what is being applied, and who has applied what. One at a time for a project.
CREATE TABLE IF NOT EXISTS config_applications (
  id uuid PRIMARY KEY,
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  caller text NOT NULL,
  caller_id uuid,
  state text NOT NULL DEFAULT 'planning'
    CHECK (state IN ('planning', 'applying', 'undoing', 'done', 'undone', 'failed')),
  -- Each entry as it was and as it is to be, until the application has ended.
  changes jsonb NOT NULL DEFAULT '[]',
  words jsonb NOT NULL DEFAULT '[]',
  reason text,
  -- The part of the platform that it is at.
  reached int4 NOT NULL DEFAULT 0,
  -- Who works on it, and until when nobody else does.
  worker uuid NOT NULL,
  lease_ends_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS config_applications_open ON config_applications (project_number)
  WHERE ended_at IS NULL;
CREATE INDEX IF NOT EXISTS config_applications_newest ON config_applications (project_number, started_at DESC, id DESC);

ALTER TABLE config_applications ENABLE ROW LEVEL SECURITY;
ALTER TABLE config_applications FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON config_applications;
CREATE POLICY project ON config_applications
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
