-- What a visitor has sent on a day (UTC), counted in recipients.
CREATE TABLE visitor_days (
  project_number bigint NOT NULL,
  visitor bytea NOT NULL,
  day date NOT NULL,
  recipients bigint NOT NULL CHECK (recipients >= 0),
  PRIMARY KEY (project_number, visitor, day)
);
CREATE INDEX visitor_days_day ON visitor_days (day);

-- Addresses that get no more mail of a project, as keyed hashes. A start of the service moves here what
-- `suppressions` holds, in which older versions keep the addresses themselves.
CREATE TABLE suppressed_addresses (
  project_number bigint NOT NULL,
  address_hash bytea NOT NULL,
  kind text NOT NULL CHECK (kind IN ('bounce', 'complaint')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, address_hash)
);

-- What is bounded by number and time; the name says what is counted, and of whom.
CREATE TABLE window_counts (
  name_hash bytea NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (name_hash, ends_at)
);
CREATE INDEX window_counts_ends_at ON window_counts (ends_at);
