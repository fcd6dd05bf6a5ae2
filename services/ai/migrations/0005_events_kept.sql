-- Events that no delivery succeeded for, for the operator to look at, replay or drop.
CREATE TABLE IF NOT EXISTS parked_events (
  id uuid PRIMARY KEY,
  queue text NOT NULL,
  -- Null where the message is no event.
  topic text,
  event_id text,
  -- Its public id, where the event says one.
  project text,
  content bytea NOT NULL,
  error text NOT NULL,
  parked_at timestamptz NOT NULL,
  -- By who hands it over now, or has died of it.
  replayed_at timestamptz,
  UNIQUE (queue, event_id)
);
