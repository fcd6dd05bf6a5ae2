-- What the calls of all projects come to, for the operator alone: by route and by network, in steps of minutes, hours
-- and days. Project 0 and an empty name are what was too much to be told apart (docs/decisions/0058).
CREATE TABLE IF NOT EXISTS call_sums (
  step text NOT NULL CHECK (step IN ('minutes', 'hours', 'days')),
  period timestamptz NOT NULL,
  kind text NOT NULL CHECK (kind IN ('route', 'address')),
  project_number int8 NOT NULL,
  name text COLLATE "C" NOT NULL,
  calls int8 NOT NULL,
  errors int8 NOT NULL,
  refusals int8 NOT NULL,
  faults int8 NOT NULL,
  bytes int8 NOT NULL,
  database_us int8 NOT NULL,
  thread_us int8 NOT NULL,
  millicredits int8 NOT NULL,
  PRIMARY KEY (kind, step, period, project_number, name)
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS call_sums_period ON call_sums (step, period);
