-- Up Migration

-- Fields in which a write had what looks personal, each with its kind, such as "email": for advice to the owner.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS personal jsonb NOT NULL DEFAULT '{}';
