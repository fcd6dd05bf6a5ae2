-- Up Migration

-- A share with an e-mail address: `user_id` is who has shown that it is theirs, all zeros until somebody
-- has. Where a record is shared with a user, the address is empty.
ALTER TABLE shares ADD COLUMN IF NOT EXISTS email text NOT NULL DEFAULT '';
-- Whose share it is; null for the project's own callers.
ALTER TABLE shares ADD COLUMN IF NOT EXISTS shared_by uuid;
ALTER TABLE shares DROP CONSTRAINT IF EXISTS shares_pkey;
-- For some changes Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE shares ADD CONSTRAINT shares_pkey PRIMARY KEY (project_id, coll_id, record_id, user_id, email);
  CREATE UNIQUE INDEX IF NOT EXISTS shares_email ON shares (project_id, email, coll_id, record_id) WHERE email <> '';
  CREATE INDEX IF NOT EXISTS shares_taken ON shares (project_id, user_id) WHERE email <> '';
  CREATE INDEX IF NOT EXISTS shares_shared_by ON shares (project_id, shared_by) WHERE email <> '';
END $$;
