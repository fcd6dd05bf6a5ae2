-- The public key signs in; `host` is where (the relying party), `counter` what the authenticator has counted.
CREATE TABLE IF NOT EXISTS passkeys (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  credential_id bytea NOT NULL,
  public_key bytea NOT NULL,
  counter int8 NOT NULL,
  transports text[] NOT NULL,
  host text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  PRIMARY KEY (project_number, id),
  CONSTRAINT passkeys_credential UNIQUE (project_number, credential_id),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS passkeys_user ON passkeys (project_number, user_id, id);

-- SHA-256 of challenges that were answered, until they are over: each is good once.
CREATE TABLE IF NOT EXISTS used_challenges (
  project_number int8 NOT NULL,
  challenge bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, challenge)
);
CREATE INDEX IF NOT EXISTS used_challenges_expires_at ON used_challenges (expires_at);

-- One authenticator app a user. `expires_at` is null once a code of it was confirmed. A code belongs to a
-- step of 30 s; none up to the last used one is good again.
CREATE TABLE IF NOT EXISTS factors (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  sealed_secret bytea NOT NULL,
  last_step int8 NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  PRIMARY KEY (project_number, id),
  CONSTRAINT factors_user UNIQUE (project_number, user_id),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS factors_expires_at ON factors (expires_at) WHERE expires_at IS NOT NULL;

-- SHA-256 of those that are left.
CREATE TABLE IF NOT EXISTS recovery_codes (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  PRIMARY KEY (project_number, user_id, code_hash),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);

-- Sign-ins that wait for the second factor.
CREATE TABLE IF NOT EXISTS factor_tokens (
  project_number int8 NOT NULL,
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  password_version int4 NOT NULL,
  method text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, token_hash),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS factor_tokens_user ON factor_tokens (project_number, user_id);
CREATE INDEX IF NOT EXISTS factor_tokens_expires_at ON factor_tokens (expires_at);

-- Devices that are asked for no code, until the password changes.
CREATE TABLE IF NOT EXISTS remembered_devices (
  project_number int8 NOT NULL,
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  password_version int4 NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, token_hash),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS remembered_devices_user ON remembered_devices (project_number, user_id);
CREATE INDEX IF NOT EXISTS remembered_devices_expires_at ON remembered_devices (expires_at);

-- Whether a second factor, or a passkey, was shown when it began or since.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS has_second_factor boolean NOT NULL DEFAULT false;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'passkeys', 'used_challenges', 'factors', 'recovery_codes', 'factor_tokens', 'remembered_devices'
  ] LOOP
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
