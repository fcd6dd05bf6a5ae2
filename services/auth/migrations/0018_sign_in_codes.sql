-- Codes by mail, one live one for each address, whether it has an account or not. Of the code an HMAC, of the
-- link's token the SHA-256.
CREATE TABLE IF NOT EXISTS sign_in_codes (
  project_number int8 NOT NULL,
  email text NOT NULL,
  code_digest bytea NOT NULL,
  token_hash bytea NOT NULL,
  guesses int4 NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, email),
  CONSTRAINT sign_in_codes_token UNIQUE (project_number, token_hash)
);
CREATE INDEX IF NOT EXISTS sign_in_codes_expires_at ON sign_in_codes (expires_at);
ALTER TABLE sign_in_codes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON sign_in_codes;
CREATE POLICY project ON sign_in_codes
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
