-- One-time keys of the dev mailbox that have opened it.
CREATE TABLE spent_mailbox_keys (
  key_hash bytea PRIMARY KEY,
  spent_at timestamptz NOT NULL
);
