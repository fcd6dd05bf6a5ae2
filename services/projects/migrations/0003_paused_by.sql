-- A project that the operator has paused is not its owner's to resume.
ALTER TABLE projects ADD COLUMN paused_by text CHECK (paused_by IN ('owner', 'operator'));
UPDATE projects SET paused_by = 'owner' WHERE status = 'paused';
