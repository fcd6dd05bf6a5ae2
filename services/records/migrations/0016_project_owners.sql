-- Up Migration

-- Whose project it is, as far as a call has told it; null: nobody's. Read by owner, so that no cluster spreads it
-- by project.
CREATE TABLE IF NOT EXISTS project_owners (
  project_id int8 PRIMARY KEY,
  owner_id text
);
CREATE INDEX IF NOT EXISTS project_owners_owner ON project_owners (owner_id);
-- The processes of this release no longer read the owner there.
INSERT INTO project_owners SELECT project_id, owner_id FROM totals WHERE owner_id IS NOT NULL
ON CONFLICT (project_id) DO NOTHING;
