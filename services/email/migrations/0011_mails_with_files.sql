-- Mails with files and mails without are claimed apart: neither is looked for among the others.
CREATE INDEX IF NOT EXISTS mails_without_files ON mails (project_number, is_own, next_attempt_at)
  WHERE status = 'queued' AND files IS NULL;
CREATE INDEX IF NOT EXISTS mails_with_files ON mails (project_number, is_own, next_attempt_at)
  WHERE status = 'queued' AND files IS NOT NULL;
