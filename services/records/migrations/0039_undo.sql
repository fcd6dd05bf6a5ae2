-- Up Migration

-- A state of a project's records to which they can be brought back: what was committed by then.
CREATE TABLE IF NOT EXISTS restore_points (
  project_id int8 NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  snapshot pg_snapshot,
  PRIMARY KEY (project_id, name)
);

CREATE TABLE IF NOT EXISTS undo_jobs (
  project_id int8 NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('reading', 'writing', 'done', 'failed')),
  -- Changes from then on, or those that a restore point does not have.
  since timestamptz NOT NULL,
  restore_point text,
  snapshot pg_snapshot,
  -- What was committed when it began: what comes later is not undone.
  until pg_snapshot,
  -- As the log has it; null: of anybody. visitor: who has no account.
  actor text,
  request_id text,
  coll_ids int4[],
  is_dry_run boolean NOT NULL,
  asked_by text,
  -- Behind which the log is read next.
  read_xid xid8 NOT NULL DEFAULT '0',
  read_seq int8 NOT NULL DEFAULT -1,
  read_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  changes int4 NOT NULL DEFAULT 0,
  created int4 NOT NULL DEFAULT 0,
  updated int4 NOT NULL DEFAULT 0,
  deleted int4 NOT NULL DEFAULT 0,
  conflicts int4 NOT NULL DEFAULT 0,
  -- How often what could not be written was tried again, and whether anything was written since.
  pass int2 NOT NULL DEFAULT 0,
  has_written boolean NOT NULL DEFAULT false,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (project_id, id)
);

-- Records that a job looks at. Those that are done have no row any more.
CREATE TABLE IF NOT EXISTS undo_records (
  project_id int8 NOT NULL,
  undo_id uuid NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  -- In the log, of the first change that is to be undone.
  first_seq int8 NOT NULL,
  -- Creates that are to be undone or were made by an undo: [seq, is to be undone].
  creates jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'again', 'conflict')),
  reason text,
  PRIMARY KEY (project_id, undo_id, coll_id, record_id)
);

-- Whose deletions an owner was told about, by day.
CREATE TABLE IF NOT EXISTS deletion_notices (
  project_id int8 NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (project_id, day)
);

-- The argument keeps it where the row is: a cluster would else ask its coordinator.
CREATE OR REPLACE FUNCTION log_snapshot(at timestamptz) RETURNS pg_snapshot VOLATILE LANGUAGE sql AS
  $$ SELECT pg_current_snapshot() $$;
