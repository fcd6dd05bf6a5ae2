-- With which of the project's secret keys somebody was invited: it ends when the key is revoked. Null for users and owners.
ALTER TABLE group_invites ADD COLUMN IF NOT EXISTS invited_with uuid;

-- Keys that were revoked, for as long as what they have handed out would be good.
CREATE TABLE IF NOT EXISTS ended_keys (
  project_number int8 NOT NULL,
  key_id uuid NOT NULL,
  ended_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, key_id)
);
CREATE INDEX IF NOT EXISTS ended_keys_ended_at ON ended_keys (ended_at);
ALTER TABLE ended_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY project ON ended_keys
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
