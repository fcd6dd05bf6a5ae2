-- Files of the project that go along: as they were described when the mail was accepted.
ALTER TABLE mails ADD COLUMN files jsonb;
