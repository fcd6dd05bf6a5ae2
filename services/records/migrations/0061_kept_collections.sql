-- Up Migration

-- Until when one that was deleted or emptied can come back: as long as its collections.deleted_at says the same, which lies
-- ahead until then. Null: it is erased at once.
ALTER TABLE ended_collections ADD COLUMN IF NOT EXISTS kept_until timestamptz;
ALTER TABLE ended_collections ADD COLUMN IF NOT EXISTS restored_at timestamptz;

-- What an undo has brought back of them, by number, and what it says of each; null: it has not looked yet.
ALTER TABLE undo_jobs ADD COLUMN IF NOT EXISTS restored int4[];
ALTER TABLE undo_jobs ADD COLUMN IF NOT EXISTS ended jsonb;
-- Those that came back last: the log is read once more for them alone.
ALTER TABLE undo_jobs ADD COLUMN IF NOT EXISTS reread int4[];
