-- Uploads that come in several calls (tus); kept after their end, so that who missed it can still ask.
CREATE TABLE resumable_uploads (
  project_number bigint NOT NULL,
  id uuid NOT NULL,
  owner_id uuid,
  name text NOT NULL,
  visibility text NOT NULL CHECK (visibility IN ('public', 'private')),
  size_bytes bigint NOT NULL CHECK (size_bytes > 0),
  metadata text NOT NULL,
  -- As far as calls that have ended brought it.
  received_bytes bigint NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- What the store remembers of it.
  note jsonb,
  -- The call that pays for the file, whoever finishes it.
  call_id uuid,
  reserved_millicredits bigint,
  -- One call at a time; the one that has it hears here that another waits.
  held_by uuid,
  held_until timestamptz,
  is_awaited boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_number, id)
);
CREATE INDEX resumable_uploads_expires_at ON resumable_uploads (expires_at);
CREATE INDEX resumable_uploads_open ON resumable_uploads (project_number) WHERE finished_at IS NULL;
