-- The sweep goes over projects, and takes the due payments of each.
CREATE INDEX IF NOT EXISTS payments_checks ON payments (status, project_number, check_at)
  WHERE status IN ('open', 'refunding');
DROP INDEX IF EXISTS payments_due;
