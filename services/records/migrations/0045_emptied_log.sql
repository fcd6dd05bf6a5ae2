-- Up Migration

-- When the log was emptied, because this is not the server that had written it: nothing from before is undone.
ALTER TABLE log_clock ADD COLUMN IF NOT EXISTS emptied_at timestamptz;
