-- What an owner's own software calls a project.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS external_id text;
CREATE UNIQUE INDEX IF NOT EXISTS projects_external_id ON projects (external_id, owner_id)
  WHERE external_id IS NOT NULL AND deleted_at IS NULL;
