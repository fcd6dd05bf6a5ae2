ALTER TABLE keys
  ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,write}'
    CHECK (scopes <@ '{read,write,admin}' AND cardinality(scopes) > 0),
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN last_used_at timestamptz;
