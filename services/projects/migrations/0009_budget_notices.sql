-- That an owner was told of a budget that refuses calls, once a day (UTC) and kind.
CREATE TABLE budget_notices (
  owner_id uuid NOT NULL,
  kind text NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (owner_id, kind, day)
);
CREATE INDEX budget_notices_day ON budget_notices (day);
