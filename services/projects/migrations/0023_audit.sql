-- The audit log (docs/decisions/0060): a chain of lines for each owner, and one for what is nobody's. A line's hash is
-- over the one before it, so that none can be changed, left out or put in without being found. What may have to be
-- erased stands beside it, and the line has its salted hash.
CREATE TABLE IF NOT EXISTS audit_chains (
  -- The owner's id, or "platform".
  chain text COLLATE "C" PRIMARY KEY,
  last_seq int8 NOT NULL DEFAULT 0,
  last_hash bytea NOT NULL,
  -- Up to where it was found right, with the hash there.
  checked_seq int8 NOT NULL DEFAULT 0,
  checked_hash bytea NOT NULL,
  checked_at timestamptz,
  read_whole_at timestamptz,
  broken_seq int8,
  broken_reason text
);
CREATE INDEX IF NOT EXISTS audit_chains_broken ON audit_chains (chain) WHERE broken_seq IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_chains_unchecked ON audit_chains (chain) WHERE checked_seq < last_seq;
CREATE INDEX IF NOT EXISTS audit_chains_read ON audit_chains (read_whole_at NULLS FIRST);

CREATE TABLE IF NOT EXISTS audit_lines (
  chain text COLLATE "C" NOT NULL REFERENCES audit_chains,
  seq int8 NOT NULL CHECK (seq > 0),
  id uuid NOT NULL UNIQUE,
  at timestamptz NOT NULL,
  -- JSON, as it was hashed.
  content text NOT NULL,
  hash bytea NOT NULL,
  project text COLLATE "C" GENERATED ALWAYS AS (content::jsonb ->> 'projectId') STORED,
  action text COLLATE "C" GENERATED ALWAYS AS (content::jsonb ->> 'action') STORED,
  target text COLLATE "C" GENERATED ALWAYS AS (content::jsonb ->> 'target') STORED,
  actor_kind text COLLATE "C" GENERATED ALWAYS AS (content::jsonb #>> '{actor,kind}') STORED,
  actor text COLLATE "C" GENERATED ALWAYS AS (coalesce(content::jsonb #>> '{actor,userId}', content::jsonb #>> '{actor,keyId}', content::jsonb #>> '{actor,operator}')) STORED,
  PRIMARY KEY (chain, seq)
);
CREATE INDEX IF NOT EXISTS audit_lines_at ON audit_lines (at, id);
CREATE INDEX IF NOT EXISTS audit_lines_of_chain ON audit_lines (chain, at, id);
CREATE INDEX IF NOT EXISTS audit_lines_of_project ON audit_lines (project, at, id);
CREATE INDEX IF NOT EXISTS audit_lines_of_actor ON audit_lines (actor, at, id);
CREATE INDEX IF NOT EXISTS audit_lines_of_action ON audit_lines (action, at, id);

CREATE TABLE IF NOT EXISTS audit_details (
  id uuid PRIMARY KEY REFERENCES audit_lines (id),
  at timestamptz NOT NULL,
  salt bytea NOT NULL,
  -- JSON: address, user agent, before and after.
  details text NOT NULL
);
CREATE INDEX IF NOT EXISTS audit_details_age ON audit_details (at);

-- Whose details were erased with their account.
CREATE TABLE IF NOT EXISTS audit_erasures (
  user_id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL
);

CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE OR REPLACE TRIGGER audit_lines_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_lines
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE OR REPLACE TRIGGER audit_details_not_changed BEFORE UPDATE OR TRUNCATE ON audit_details
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE OR REPLACE TRIGGER audit_erasures_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_erasures
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
