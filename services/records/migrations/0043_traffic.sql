-- Up Migration

-- How often kinds of callers did what in a collection, by hour (UTC); kept for two days.
CREATE TABLE IF NOT EXISTS traffic (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  hour timestamptz NOT NULL,
  -- read, create, change, delete, batch.
  does text NOT NULL,
  -- anonymous, user, owner, key, operator.
  caller text NOT NULL,
  done int8 NOT NULL,
  -- By the collection's rules.
  refused int8 NOT NULL,
  PRIMARY KEY (project_id, coll_id, hour, does, caller)
);
CREATE INDEX IF NOT EXISTS traffic_hour ON traffic (hour);

-- About how many have come on a day (UTC): registers of a HyperLogLog, from which nobody can be told.
CREATE TABLE IF NOT EXISTS visits (
  project_id int8 NOT NULL,
  day date NOT NULL,
  registers bytea NOT NULL,
  PRIMARY KEY (project_id, day)
);
CREATE INDEX IF NOT EXISTS visits_day ON visits (day);
