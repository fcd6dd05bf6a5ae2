CREATE TABLE prompts (
  project_number bigint NOT NULL,
  name text NOT NULL,
  system text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, name)
);

-- A project's own key for the model's provider, sealed; the hint is its end.
CREATE TABLE secrets (
  project_number bigint PRIMARY KEY,
  sealed bytea NOT NULL,
  hint text NOT NULL,
  model text,
  updated_at timestamptz NOT NULL
);

-- What a visitor has used or reserved on a day (UTC), where the owner has set a budget.
CREATE TABLE visitor_days (
  project_number bigint NOT NULL,
  visitor bytea NOT NULL,
  day date NOT NULL,
  millicredits bigint NOT NULL CHECK (millicredits >= 0),
  PRIMARY KEY (project_number, visitor, day)
);
CREATE INDEX visitor_days_day ON visitor_days (day);
