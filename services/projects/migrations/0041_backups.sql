-- Back-ups of the whole installation that it was told of; they themselves lie elsewhere.
CREATE TABLE IF NOT EXISTS backups (
  -- SHA-256 of its manifest, in hexadecimal.
  id text COLLATE "C" PRIMARY KEY,
  began_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  release text NOT NULL,
  size_bytes int8 NOT NULL,
  rows int8 NOT NULL,
  files int8 NOT NULL,
  lost_files int8 NOT NULL,
  place text NOT NULL,
  key_ids text[] NOT NULL,
  noted_by text NOT NULL,
  verified_at timestamptz,
  verified_by text
);
CREATE INDEX IF NOT EXISTS backups_newest ON backups (began_at DESC, id);
