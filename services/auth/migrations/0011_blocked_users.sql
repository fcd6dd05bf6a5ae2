-- Who writes nothing, since when, until when (null: for good) and why. Null where nobody is blocked.
ALTER TABLE users
  ADD COLUMN IF NOT EXISTS blocked_at timestamptz,
  ADD COLUMN IF NOT EXISTS blocked_until timestamptz,
  ADD COLUMN IF NOT EXISTS block_reason text;
CREATE INDEX IF NOT EXISTS users_blocked ON users (project_number, id) WHERE blocked_at IS NOT NULL;

-- SHA-256 of the addresses of accounts that were erased while blocked: nobody signs up with one until then.
CREATE TABLE IF NOT EXISTS blocked_addresses (
  project_number int8 NOT NULL,
  address bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, address)
);
CREATE INDEX IF NOT EXISTS blocked_addresses_expires_at ON blocked_addresses (expires_at);
ALTER TABLE blocked_addresses ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON blocked_addresses;
CREATE POLICY project ON blocked_addresses
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
