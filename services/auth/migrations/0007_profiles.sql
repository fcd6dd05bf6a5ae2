-- What the app keeps of the user: a JSON object of at most 8 KiB.
ALTER TABLE users ADD COLUMN profile jsonb NOT NULL DEFAULT '{}';
