-- What owners may do depends on it from now on: those who are there already count as verified.
UPDATE users SET email_verified = true WHERE project_number = 1 AND NOT email_verified;
