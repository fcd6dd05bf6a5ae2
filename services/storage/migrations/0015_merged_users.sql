-- Whose the files of an account became that is part of another one; null: it was erased.
ALTER TABLE erased_users ADD COLUMN IF NOT EXISTS heir_id uuid;
