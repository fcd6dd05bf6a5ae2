-- Up Migration

-- Of a collection with a table of its own: while that is filled its records are still in the table that all
-- share.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS own_table text;
ALTER TABLE collections DROP CONSTRAINT IF EXISTS collections_own_table_check;
-- For some changes Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE collections DROP COLUMN IF EXISTS rel;
  ALTER TABLE collections ADD CONSTRAINT collections_own_table_check CHECK (own_table IN ('filling', 'used'));
END $$;

-- Shares stay where they are when their records move, so that who deletes a record deletes its shares.
ALTER TABLE shares DROP CONSTRAINT IF EXISTS shares_project_id_coll_id_record_id_fkey;

-- Collections on their way to a table of their own: first their records are copied, then those that stayed
-- behind are deleted (emptying).
CREATE TABLE IF NOT EXISTS moves (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  state text NOT NULL CHECK (state IN ('copying', 'copied', 'emptying')),
  -- Of the state. Until `copied` is a minute old some process may not know of the move.
  since timestamptz NOT NULL,
  -- Whether no writer is left that does not know of the move.
  is_known boolean NOT NULL DEFAULT false,
  -- The records up to this one are done.
  position uuid,
  PRIMARY KEY (project_id, coll_id)
);

-- Records that were written while they move.
CREATE TABLE IF NOT EXISTS moved_changes (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  id uuid NOT NULL
);
CREATE INDEX IF NOT EXISTS moved_changes_collection ON moved_changes (project_id, coll_id);

-- The epoch of a collection that moves. Until the caller's transaction ends its records stay where they are.
CREATE OR REPLACE FUNCTION hold_table(project int8, coll int4) RETURNS int4 VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('records table ' || project || ' ' || coll, 0));
  RETURN (SELECT epoch FROM records.collections c WHERE c.project_id = project AND c.coll_id = coll);
END
$$;
