-- Up Migration

-- Why a slot is there and how far it is: what lists and counts had cost without it, null where the owner has asked
-- for it, and how many records are done.
ALTER TABLE slots ADD COLUMN IF NOT EXISTS scans int;
ALTER TABLE slots ADD COLUMN IF NOT EXISTS scanned_ms float8;
ALTER TABLE slots ADD COLUMN IF NOT EXISTS filled int8 NOT NULL DEFAULT 0;

-- Of `scanned_ms`, what fields had that this one has replaced.
ALTER TABLE observations ADD COLUMN IF NOT EXISTS inherited_ms float8 NOT NULL DEFAULT 0;
ALTER TABLE observations ADD COLUMN IF NOT EXISTS scans int NOT NULL DEFAULT 0;
