-- Who of the group's members invites: the invitation ends with what they may do. Null for the project's own callers.
ALTER TABLE group_invites ADD COLUMN IF NOT EXISTS invited_by uuid;
CREATE INDEX IF NOT EXISTS group_invites_invited_by ON group_invites (project_number, invited_by)
  WHERE invited_by IS NOT NULL;
