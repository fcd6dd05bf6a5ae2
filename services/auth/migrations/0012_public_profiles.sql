-- What a user shows others beside name and picture: a JSON object of at most 2 KiB.
ALTER TABLE users ADD COLUMN IF NOT EXISTS public_profile jsonb NOT NULL DEFAULT '{}';
