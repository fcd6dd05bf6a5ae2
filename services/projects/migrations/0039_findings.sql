-- What services and the sums of calls have found of abuse, one row for each project, kind and subject, for the operator.
CREATE TABLE IF NOT EXISTS findings (
  id uuid PRIMARY KEY,
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  kind text NOT NULL,
  -- Of an exposure the collection, else empty.
  subject text NOT NULL,
  signs text[] NOT NULL,
  calls int8 NOT NULL,
  evidence jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  told_at timestamptz,
  dismissed_until timestamptz,
  CONSTRAINT findings_subject UNIQUE (project_number, kind, subject)
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS findings_listed ON findings (created_at, id);
CREATE INDEX IF NOT EXISTS findings_seen ON findings (seen_at);
ALTER TABLE findings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON findings;
CREATE POLICY project ON findings
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
