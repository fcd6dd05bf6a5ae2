-- Those of `recipients` who get it in copy, and where answers go.
ALTER TABLE mails ADD COLUMN cc text[] NOT NULL DEFAULT '{}';
ALTER TABLE mails ADD COLUMN reply_to text;
