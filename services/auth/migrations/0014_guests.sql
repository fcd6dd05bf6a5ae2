-- A guest has neither address nor password; an account may be without a password.
ALTER TABLE users
  ALTER COLUMN email DROP NOT NULL,
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD COLUMN IF NOT EXISTS is_guest boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT IF EXISTS users_email_or_guest,
  ADD CONSTRAINT users_email_or_guest CHECK ((email IS NULL) = is_guest);
