-- Up Migration

-- `shared_by` is kept of shares with users too from now on. Null for the project's own callers and for shares of before.
CREATE INDEX IF NOT EXISTS shares_given ON shares (project_id, shared_by, coll_id, record_id) WHERE shared_by IS NOT NULL;
