-- Whose bounces they are: of the project (its owner and keys), of visitors who choose the address, or of whoever asks
-- for a mail to an own address; `asked_from` is then the SHA-256 of their network address.
ALTER TABLE mails ADD COLUMN IF NOT EXISTS sender text NOT NULL DEFAULT 'project';
ALTER TABLE mails ADD COLUMN IF NOT EXISTS asked_from text;

-- Projects whose visitors may mail nobody else while `resumed_at` is null.
CREATE TABLE IF NOT EXISTS visitor_stops (
  project_number bigint PRIMARY KEY,
  stopped_at timestamptz NOT NULL,
  resumed_at timestamptz
);
ALTER TABLE visitor_stops ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON visitor_stops;
CREATE POLICY project ON visitor_stops
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
