-- A project that the operator has deleted is not its owner's to restore.
ALTER TABLE projects ADD COLUMN deleted_by text CHECK (deleted_by IN ('owner', 'operator'));
