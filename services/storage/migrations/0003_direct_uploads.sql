-- Uploads that go to the store without passing us, until they are complete or their time is over.
CREATE TABLE direct_uploads (
  project_number bigint NOT NULL,
  id uuid NOT NULL,
  owner_id uuid,
  name text NOT NULL,
  visibility text NOT NULL CHECK (visibility IN ('public', 'private')),
  blob_key text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id)
);
CREATE INDEX direct_uploads_expires_at ON direct_uploads (expires_at);

-- Nobody here has seen all the bytes of such a file.
ALTER TABLE files ALTER COLUMN sha256 DROP NOT NULL;

ALTER TABLE idempotency ALTER COLUMN sealed_answer DROP NOT NULL, ADD COLUMN claim uuid;
