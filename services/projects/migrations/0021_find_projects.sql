-- How the operator finds one among all: `lower(name)` as a whole and how it begins, and those that are not active.
CREATE INDEX IF NOT EXISTS projects_name ON projects (lower(name) text_pattern_ops);
CREATE INDEX IF NOT EXISTS projects_paused ON projects (created_at, id) WHERE status = 'paused' AND deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS projects_deleted_by_age ON projects (created_at, id) WHERE deleted_at IS NOT NULL;
