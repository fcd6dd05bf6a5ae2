-- A new address of a user, one at a time. A link that was followed is null; so is that to an address which
-- the user has never shown to be theirs.
CREATE TABLE email_changes (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  email text NOT NULL,
  new_token_hash bytea,
  old_token_hash bytea,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id),
  CONSTRAINT email_changes_new_token UNIQUE (project_number, new_token_hash),
  CONSTRAINT email_changes_old_token UNIQUE (project_number, old_token_hash),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX email_changes_expires_at ON email_changes (expires_at);

ALTER TABLE email_changes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY project ON email_changes
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
