-- Up Migration

-- With the name first it serves no look-up by number, for which the planner took it where projects have few.
ALTER TABLE collections DROP CONSTRAINT IF EXISTS collections_name;
ALTER TABLE collections ADD CONSTRAINT collections_name UNIQUE (name, project_id);
