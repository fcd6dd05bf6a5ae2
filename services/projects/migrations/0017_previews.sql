-- A project beside another one: the id of that one, and the SHA-256 of the token that leads to it from there.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS preview_of text COLLATE "C",
  ADD COLUMN IF NOT EXISTS preview_hash bytea;
CREATE INDEX IF NOT EXISTS projects_previews ON projects (preview_of) WHERE preview_of IS NOT NULL;
