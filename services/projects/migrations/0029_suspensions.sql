-- What the operator has suspended: a project or an owner with all their projects, as a whole or in one capability.
CREATE TABLE IF NOT EXISTS suspensions (
  id uuid PRIMARY KEY,
  project_number int8 REFERENCES projects (number) ON DELETE CASCADE,
  owner_id uuid,
  capability text NOT NULL CHECK (capability IN ('all', 'mail', 'ai', 'uploads', 'writes', 'payments')),
  reason text NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((project_number IS NULL) <> (owner_id IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS suspensions_of_project ON suspensions (project_number, capability) WHERE project_number IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS suspensions_of_owner ON suspensions (owner_id, capability) WHERE owner_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS suspensions_listed ON suspensions (created_at, id);

-- Those that hold for the project, its owner's and those of what it is a preview of included.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS suspensions jsonb NOT NULL DEFAULT '[]';
