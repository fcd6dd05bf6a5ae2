-- Up Migration

-- Who made it: `visitor`, who has no account, or `user`; null: the project's own callers. They may make so many.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS made_by text;
-- Whether the project's own callers have set anything of it: it stays then, though it has no records.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS is_set boolean NOT NULL DEFAULT true;
-- Since when nobody finds it any more. Its name is then `!` and its number, and its records are being erased.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS deleted_at timestamptz;
-- The name of one without records that gave its place to another: a write that was under way brings it back.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS former_name text COLLATE "C";
-- Whether nothing of a deleted one was left when it was looked for.
ALTER TABLE collections ADD COLUMN IF NOT EXISTS is_erased boolean NOT NULL DEFAULT false;
-- By itself: Citus sends the text around it to its nodes, which would be this whole file.
DO $$ BEGIN
  CREATE INDEX IF NOT EXISTS collections_deleted ON collections (project_id, deleted_at) WHERE deleted_at IS NOT NULL;
END $$;
