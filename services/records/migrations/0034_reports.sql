-- Up Migration

-- What users have to say about records, once a record and user, to whoever moderates the app.
CREATE TABLE IF NOT EXISTS reports (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  user_id uuid NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, coll_id, record_id, user_id)
);
CREATE INDEX IF NOT EXISTS reports_user ON reports (project_id, user_id, created_at);
