-- Calls of a project as gateways have noted them (docs/decisions/0053). Lines are numbered in the order in which they
-- are committed, because whoever adds some holds the project's row; what lies before "first_line" is shown to nobody,
-- and is erased up to "erased_line".
CREATE TABLE call_logs (
  project_number int8 PRIMARY KEY REFERENCES projects (number) ON DELETE CASCADE,
  owner_id uuid,
  last_line int8 NOT NULL,
  first_line int8 NOT NULL DEFAULT 1,
  erased_line int8 NOT NULL DEFAULT 0,
  checked_at timestamptz NOT NULL
);
CREATE INDEX call_logs_owner ON call_logs (owner_id);
CREATE INDEX call_logs_checked ON call_logs (checked_at);
CREATE INDEX call_logs_erased ON call_logs (project_number) WHERE first_line > erased_line + 1;

CREATE TABLE call_lines (
  project_number int8 NOT NULL REFERENCES call_logs (project_number) ON DELETE CASCADE,
  line int8 NOT NULL,
  at timestamptz NOT NULL,
  user_id uuid,
  -- A call, or a gap, as it is shown.
  item jsonb NOT NULL,
  PRIMARY KEY (project_number, line)
);

-- Which batch of a gateway's process was taken last: one that comes twice is taken once.
CREATE TABLE call_log_gateways (
  gateway uuid PRIMARY KEY,
  batch int8 NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX call_log_gateways_age ON call_log_gateways (at);

-- Users who were erased a short while ago: what was still on its way of their calls is erased too.
CREATE TABLE call_log_erasures (
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  user_id uuid NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id)
);
CREATE INDEX call_log_erasures_age ON call_log_erasures (at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['call_logs', 'call_lines', 'call_log_erasures'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format($policy$
      CREATE POLICY project ON %I
       USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
        WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
    $policy$, name);
  END LOOP;
END
$$;
