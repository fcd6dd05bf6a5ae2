-- Whom a mailed link may make a user: the guest who has asked for it.
ALTER TABLE sign_in_codes ADD COLUMN IF NOT EXISTS asked_by uuid;
