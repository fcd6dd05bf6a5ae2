-- Up Migration

-- Whose the records become; null: those of an account that was erased.
ALTER TABLE user_erasures ADD COLUMN IF NOT EXISTS heir_id uuid;
