-- Up Migration

-- Whether it has taken its name with records in it, by a rename or a restore: who waits for one of the name begins anew.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS took_name boolean NOT NULL DEFAULT false;
