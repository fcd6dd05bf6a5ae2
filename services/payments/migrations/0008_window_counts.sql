-- What is bounded by number and time; the name says what is counted, and of whom.
CREATE TABLE IF NOT EXISTS window_counts (
  name_hash bytea NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (name_hash, ends_at)
);
CREATE INDEX IF NOT EXISTS window_counts_ends_at ON window_counts (ends_at);
