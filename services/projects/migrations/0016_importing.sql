-- Until its archive has been read nobody finds the project; at this time whoever reads it has gone, and it is erased.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS importing_until timestamptz;
-- An owner reads one archive at a time.
CREATE UNIQUE INDEX IF NOT EXISTS projects_importing ON projects (owner_id) WHERE importing_until IS NOT NULL;
