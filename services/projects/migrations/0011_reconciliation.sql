-- Up to which line an owner's account was found right, what these lines sum to, and when all of them were
-- last read. Lines are numbered under the account's lock, so none comes late before a number that was seen.
CREATE TABLE checked_lines (
  owner_account int8 PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  seq int8 NOT NULL,
  sum_millicredits int8 NOT NULL,
  read_whole_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- One row: which process began last, and how many owners differed.
CREATE TABLE reconciliation (
  is_only bool PRIMARY KEY DEFAULT true CHECK (is_only),
  started_at timestamptz NOT NULL,
  counts jsonb NOT NULL DEFAULT '{}'
);
