-- Up Migration

-- The group of users whose record it is, where the rules of its collection name groups.
ALTER TABLE records ADD COLUMN IF NOT EXISTS group_id uuid;

-- With whom a record is shared, and what they may do with it beyond what the rules say of all.
CREATE TABLE IF NOT EXISTS shares (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  user_id uuid NOT NULL,
  may text NOT NULL CHECK (may IN ('read', 'change')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, coll_id, record_id, user_id)
);
CREATE INDEX IF NOT EXISTS shares_user ON shares (project_id, coll_id, user_id, record_id);
