-- Files of a group: open to its members, whoever of them uploaded it.
ALTER TABLE files ADD COLUMN group_id uuid;
ALTER TABLE direct_uploads ADD COLUMN group_id uuid;
ALTER TABLE resumable_uploads ADD COLUMN group_id uuid;
CREATE INDEX files_of_group ON files (project_number, group_id, created_at DESC, id DESC)
  WHERE group_id IS NOT NULL;
