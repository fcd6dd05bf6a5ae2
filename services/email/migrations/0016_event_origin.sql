-- The call that an event comes from, for logs and traces.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS origin jsonb;
