-- SHA-256 of each operator's token, never the token.
CREATE TABLE IF NOT EXISTS operator_tokens (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  scope text NOT NULL CHECK (scope IN ('read', 'support', 'admin')),
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz
);
