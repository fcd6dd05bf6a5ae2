-- Accounts elsewhere with which users sign in here, and the projects' clients there.

-- What an owner has set of a provider; without a row the operator's client counts, where there is one.
CREATE TABLE IF NOT EXISTS auth_providers (
  project_number int8 NOT NULL,
  name text NOT NULL,
  label text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  -- Null: switched off.
  sealed bytea,
  hint text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, name)
);

-- An identity is issuer and subject; the address is only what the provider named last.
CREATE TABLE IF NOT EXISTS identities (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  provider text NOT NULL,
  label text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  CONSTRAINT identities_subject UNIQUE (project_number, issuer, subject),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS identities_user ON identities (project_number, user_id, id);

-- A browser on its way to a provider: once, by the SHA-256 of its state.
CREATE TABLE IF NOT EXISTS oauth_flows (
  project_number int8 NOT NULL,
  state_hash bytea NOT NULL,
  provider text NOT NULL,
  client_id text NOT NULL,
  -- SHA-256 of the app's verifier.
  challenge text NOT NULL,
  return_to text NOT NULL,
  is_popup boolean NOT NULL,
  -- Our verifier and nonce.
  sealed bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, state_hash)
);
CREATE INDEX IF NOT EXISTS oauth_flows_expires_at ON oauth_flows (expires_at);

-- Whom a provider has vouched for: once, by the SHA-256 of the code that the app got.
CREATE TABLE IF NOT EXISTS oauth_codes (
  project_number int8 NOT NULL,
  code_hash bytea NOT NULL,
  challenge text NOT NULL,
  provider text NOT NULL,
  label text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  email text,
  email_verified boolean NOT NULL,
  name text,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, code_hash)
);
CREATE INDEX IF NOT EXISTS oauth_codes_expires_at ON oauth_codes (expires_at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['auth_providers', 'identities', 'oauth_flows', 'oauth_codes'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('DROP POLICY IF EXISTS project ON %I', name);
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
