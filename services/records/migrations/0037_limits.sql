-- Up Migration

-- What each caller may do in the collection at most: {maxBytes, perUser, perUserPerHour, perAddressPerHour}.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS limits jsonb NOT NULL DEFAULT '{}';

-- Collections of which it is counted how many records each user owns. As unique_fields: writers count from the
-- beginning on, those from before are counted in the background, then it is ready.
CREATE TABLE IF NOT EXISTS record_limits (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  -- The epoch that began with it: no other one of the collection gets the same one.
  number int4 NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready', 'dropping')),
  is_known boolean NOT NULL DEFAULT false,
  position uuid,
  PRIMARY KEY (project_id, coll_id, number)
);
CREATE INDEX IF NOT EXISTS record_limits_under_way ON record_limits (number) WHERE state <> 'ready';

-- How many records a user owns (the number is that of record_limits; below zero while those from before are not
-- counted), or how many a user or an address has made in an hour (number 0).
CREATE TABLE IF NOT EXISTS record_counts (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  number int4 NOT NULL,
  key text NOT NULL,
  records int8 NOT NULL,
  -- How many there may be after the last change; null where that asked for none.
  most int8,
  -- The hour of number 0.
  since timestamptz,
  -- From when on it says nothing: the end of the hour, or when the user came to own nothing.
  ends_at timestamptz,
  PRIMARY KEY (project_id, coll_id, number, key),
  CONSTRAINT record_counts_most CHECK (records <= most)
);
-- None has the column that changes with each record, so that its updates are cheap.
CREATE INDEX IF NOT EXISTS record_counts_ending ON record_counts (ends_at) WHERE ends_at IS NOT NULL;
