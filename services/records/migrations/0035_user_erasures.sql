-- Up Migration

-- What becomes of the records of a user whose account is erased; null: what the access of the collection says.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS on_erase text;

-- Accounts that were erased, and how far their records have been looked for.
CREATE TABLE IF NOT EXISTS user_erasures (
  project_id int8 NOT NULL,
  user_id uuid NOT NULL,
  requested_at timestamptz NOT NULL,
  -- Collections of lower numbers are done, and of this one the records up to `after_id`.
  coll_id int4 NOT NULL,
  after_id uuid NOT NULL,
  PRIMARY KEY (project_id, user_id)
) WITH (fillfactor = 70);
