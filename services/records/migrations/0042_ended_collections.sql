-- Up Migration

-- Collections that were deleted or emptied with records in them: no undo brings these back, and each says so by name.
CREATE TABLE IF NOT EXISTS ended_collections (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  name text COLLATE "C" NOT NULL,
  is_emptied boolean NOT NULL,
  records int8 NOT NULL,
  actor text,
  request_id text,
  ended_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, ended_at, coll_id)
);
