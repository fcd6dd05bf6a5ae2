-- Up Migration

-- With the name first it serves no look-up by number, for which the planner took it where projects have few.
-- Each by itself: Citus sends the text around a change to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE collections DROP CONSTRAINT IF EXISTS collections_name;
END $$;
DO $$ BEGIN
  ALTER TABLE collections ADD CONSTRAINT collections_name UNIQUE (name, project_id);
END $$;
