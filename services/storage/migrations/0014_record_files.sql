-- Files of a record: open to whoever may read it. The number of its collection, and its id.
ALTER TABLE files ADD COLUMN IF NOT EXISTS record_collection int8, ADD COLUMN IF NOT EXISTS record_id uuid;
ALTER TABLE direct_uploads ADD COLUMN IF NOT EXISTS record_collection int8, ADD COLUMN IF NOT EXISTS record_id uuid;
ALTER TABLE resumable_uploads ADD COLUMN IF NOT EXISTS record_collection int8, ADD COLUMN IF NOT EXISTS record_id uuid;
-- What the files of a user add up to.
CREATE INDEX IF NOT EXISTS files_bytes_of_owner ON files (project_number, owner_id) INCLUDE (size_bytes)
  WHERE owner_id IS NOT NULL;
