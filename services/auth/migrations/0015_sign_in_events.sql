-- What happened to a user's sign-in, for 90 days. Failed attempts of one network within an hour share a row.
CREATE TABLE sign_in_events (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  -- How, or of what: never a secret.
  detail text,
  device text,
  -- The network of the address: /24 of IPv4, /48 of IPv6.
  network text,
  times int4 NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id, id),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX sign_in_events_last_at ON sign_in_events (last_at);

ALTER TABLE sign_in_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY project ON sign_in_events
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
