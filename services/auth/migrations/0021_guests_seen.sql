-- Guests, and when one was last here; the id of the project goes with what is told once one is erased.
CREATE TABLE IF NOT EXISTS guests (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  project_id text NOT NULL,
  last_seen_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS guests_last_seen_at ON guests (last_seen_at);
ALTER TABLE guests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON guests;
CREATE POLICY project ON guests
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
