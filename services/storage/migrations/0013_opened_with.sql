-- With which of the project's secret keys an upload was opened: it ends with the key. Null for everybody else.
ALTER TABLE resumable_uploads ADD COLUMN IF NOT EXISTS opened_with uuid;
ALTER TABLE direct_uploads ADD COLUMN IF NOT EXISTS opened_with uuid;
