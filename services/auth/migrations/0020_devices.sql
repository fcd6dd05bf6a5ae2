-- Where a session began, and how; null in those that the release before began.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS device text;
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS network text;
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS method text;
-- Null: not since it began.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS last_used_at timestamptz;

-- Of browser, system and wide network from which an account signed in, as SHA-256: a sign-in from elsewhere is told by mail.
CREATE TABLE known_devices (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  device bytea NOT NULL,
  last_seen_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id, device),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX known_devices_last_seen_at ON known_devices (last_seen_at);

ALTER TABLE known_devices ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY project ON known_devices
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
