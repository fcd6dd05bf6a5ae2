-- Up Migration

-- Each change of a record, written in the statement of the change. What there is now stands in `records`; here stands
-- what there was before. A day's rows lie in one of 14 tables, which is emptied when their time is over.
CREATE TABLE IF NOT EXISTS changes (
  -- The day since 1970, modulo 14.
  slot int2 NOT NULL,
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  -- The transaction's: what is below the oldest that is under way is all there.
  xid xid8 NOT NULL,
  -- Microseconds since 1970.
  seq int8 NOT NULL,
  kind "char" NOT NULL,
  changed_at timestamptz NOT NULL,
  -- user:<id>, key:<id>, owner, operator, platform; null: a visitor.
  actor text,
  request_id text,
  -- Null for a create.
  old_data jsonb,
  old_owner uuid,
  old_group uuid,
  old_updated_at timestamptz,
  -- Of old_data, in bytes of JSON.
  old_size int4 NOT NULL DEFAULT 0,
  -- Of a deleted record: who had a share of it.
  old_shares uuid[]
) PARTITION BY LIST (slot);

DO $$ BEGIN
  FOR slot IN 0 .. 13 LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS changes_%s PARTITION OF changes FOR VALUES IN (%s)', slot, slot);
  END LOOP;
  CREATE INDEX IF NOT EXISTS changes_in_order ON changes (project_id, xid);
  -- A create has nothing to bring back, and is the most frequent change.
  CREATE INDEX IF NOT EXISTS changes_of_record ON changes (project_id, coll_id, record_id) WHERE kind <> 'c';
END $$;

-- The argument keeps them where the row is: a cluster would else ask its coordinator, which counts by itself.
CREATE OR REPLACE FUNCTION change_xid(record_id uuid) RETURNS xid8 VOLATILE LANGUAGE sql AS
  $$ SELECT pg_current_xact_id() $$;
CREATE OR REPLACE FUNCTION change_seq(record_id uuid) RETURNS int8 VOLATILE LANGUAGE sql AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8 $$;

-- The service's role may change rows alone.
CREATE OR REPLACE FUNCTION empty_changes(slot int) RETURNS void SECURITY DEFINER LANGUAGE plpgsql
  SET search_path = records, pg_temp AS $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  EXECUTE format('TRUNCATE %I', 'changes_' || (slot % 14));
END
$$;

-- Where the log of a project begins, where that is not its age alone: it was too large, or somebody was erased.
CREATE TABLE IF NOT EXISTS change_floors (
  project_id int8 PRIMARY KEY,
  xid xid8 NOT NULL
);

-- A number of a transaction of this server: a backup is read by one that counts anew, to which the log says nothing.
CREATE TABLE IF NOT EXISTS log_clock (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  xid xid8 NOT NULL
);

-- Whether changes of the records are kept.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS history boolean NOT NULL DEFAULT true;
