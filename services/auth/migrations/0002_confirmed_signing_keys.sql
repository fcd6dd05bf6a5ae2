-- When a process last opened the current key. While it is recent, a process with another master key
-- leaves the keys alone.
ALTER TABLE signing_keys ADD COLUMN confirmed_at timestamptz;
