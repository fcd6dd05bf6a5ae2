-- For the sweep that deletes what was never paid.
CREATE INDEX IF NOT EXISTS payments_unpaid ON payments (expires_at) WHERE status IN ('failed', 'expired');
CREATE INDEX IF NOT EXISTS test_sessions_unpaid ON test_sessions (expires_at) WHERE status IN ('open', 'expired');
