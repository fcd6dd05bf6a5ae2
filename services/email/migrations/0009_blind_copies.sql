-- Who gets it in blind copy, beside `recipients`: what reads those alone shows it to nobody.
ALTER TABLE mails ADD COLUMN bcc text[] NOT NULL DEFAULT '{}';
