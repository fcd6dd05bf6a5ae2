-- A session that waits to be given to the app, by the SHA-256 of the code: one a session, once.
CREATE TABLE IF NOT EXISTS handovers (
  project_number int8 NOT NULL,
  session_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  -- SHA-256 of the app's verifier.
  challenge text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, session_id),
  CONSTRAINT handovers_code UNIQUE (project_number, code_hash),
  FOREIGN KEY (project_number, session_id) REFERENCES sessions ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS handovers_expires_at ON handovers (expires_at);

ALTER TABLE handovers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON handovers;
CREATE POLICY project ON handovers
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
