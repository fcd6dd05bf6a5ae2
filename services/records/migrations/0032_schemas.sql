-- Up Migration

-- What the records of a collection have to be: JSON Schema as its owner wrote it; null: anything.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS schema text;
