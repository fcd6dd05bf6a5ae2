-- Guests whose accounts became part of a user's: told once more, when what they had under way has ended.
CREATE TABLE IF NOT EXISTS merges (
  project_number int8 NOT NULL,
  guest_id uuid NOT NULL,
  project_id text NOT NULL,
  -- No reference: the user may be erased before it is told.
  user_id uuid NOT NULL,
  merged_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, guest_id)
);
CREATE INDEX IF NOT EXISTS merges_merged_at ON merges (merged_at);
ALTER TABLE merges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON merges;
CREATE POLICY project ON merges
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
