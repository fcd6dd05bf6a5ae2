CREATE TABLE files (
  project_number bigint NOT NULL,
  id uuid NOT NULL,
  owner_id uuid,
  name text NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes > 0),
  media_type text NOT NULL,
  visibility text NOT NULL CHECK (visibility IN ('public', 'private')),
  sha256 bytea NOT NULL,
  blob_key text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id)
);
CREATE INDEX files_newest ON files (project_number, created_at DESC, id DESC);
CREATE INDEX files_of_owner ON files (project_number, owner_id, created_at DESC, id DESC);

-- What the files of a project add up to; holds the quota among parallel uploads.
CREATE TABLE totals (
  project_number bigint PRIMARY KEY,
  files bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0
);

-- Blobs that no file has: of uploads under way, until their lease ends, and of files that are gone.
CREATE TABLE loose_blobs (
  blob_key text PRIMARY KEY,
  project_number bigint NOT NULL,
  leased_until timestamptz NOT NULL
);
CREATE INDEX loose_blobs_leased_until ON loose_blobs (leased_until);

-- Accounts that are gone: an upload of theirs that was under way makes no file. Kept for a day.
CREATE TABLE erased_users (
  project_number bigint NOT NULL,
  user_id uuid NOT NULL,
  erased_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id)
);

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  topic text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);
