-- A project's mails, and the platform's own mails for it, are a queue each; the queues take turns.
CREATE INDEX mails_queues ON mails (project_number, is_own, next_attempt_at) WHERE status = 'queued';
DROP INDEX mails_due, mails_waiting;
