-- When whoever has the session last showed that the account is theirs; null: when it began.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS proven_at timestamptz;
