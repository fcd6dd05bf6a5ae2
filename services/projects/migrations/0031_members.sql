-- Who works on a project beside its owner, by the account's id and with the address that they have shown is theirs.
-- Asked by account across projects, and with every statement of the control plane: no row-level security.
CREATE TABLE IF NOT EXISTS project_members (
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  user_id uuid NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
  email text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id)
);
CREATE INDEX IF NOT EXISTS project_members_user ON project_members (user_id);

-- Of the token of a mailed link only the SHA-256.
CREATE TABLE IF NOT EXISTS member_invitations (
  id uuid PRIMARY KEY,
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  email text NOT NULL,
  role text NOT NULL DEFAULT 'viewer' CHECK (role IN ('viewer', 'editor', 'admin')),
  token_hash bytea NOT NULL UNIQUE,
  invited_by uuid,
  created_at timestamptz NOT NULL,
  sent_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT member_invitations_email UNIQUE (project_number, email)
);
CREATE INDEX IF NOT EXISTS member_invitations_end ON member_invitations (expires_at);
CREATE INDEX IF NOT EXISTS member_invitations_address ON member_invitations (email);
ALTER TABLE member_invitations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON member_invitations;
CREATE POLICY project ON member_invitations
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);

-- What is bounded by number and time; the name says what is counted, and of whom.
CREATE TABLE IF NOT EXISTS window_counts (
  name_hash bytea NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (name_hash, ends_at)
);
CREATE INDEX IF NOT EXISTS window_counts_ends_at ON window_counts (ends_at);
