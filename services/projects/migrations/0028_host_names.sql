-- Which project a host name leads to.
CREATE INDEX IF NOT EXISTS origins_proven ON origins (origin, verified_at) WHERE verified_at IS NOT NULL;
