-- Id of a file; nobody checks that it is one.
ALTER TABLE users ADD COLUMN avatar uuid;

CREATE TABLE groups (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id)
);

CREATE TABLE group_members (
  project_number int8 NOT NULL,
  group_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, group_id, user_id),
  FOREIGN KEY (project_number, group_id) REFERENCES groups ON DELETE CASCADE,
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX group_members_user ON group_members (project_number, user_id, group_id);

-- One live invitation for each address; of its token the SHA-256.
CREATE TABLE group_invites (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  group_id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  CONSTRAINT group_invites_email UNIQUE (project_number, group_id, email),
  CONSTRAINT group_invites_token UNIQUE (project_number, token_hash),
  FOREIGN KEY (project_number, group_id) REFERENCES groups ON DELETE CASCADE
);
CREATE INDEX group_invites_expires_at ON group_invites (expires_at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['groups', 'group_members', 'group_invites'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format($policy$
      CREATE POLICY project ON %I
       USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
        WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
    $policy$, name);
  END LOOP;
END
$$;
