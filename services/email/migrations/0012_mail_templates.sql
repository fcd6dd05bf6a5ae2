-- Mails that the owner of a project has worded: `fields` says what their data holds, `origins` where they lead.
-- `send_to` is null for words of account mails.
CREATE TABLE IF NOT EXISTS mail_templates (
  project_number bigint NOT NULL,
  name text NOT NULL,
  subject text NOT NULL,
  html text NOT NULL,
  plain_text text,
  send_to text,
  callers text[] NOT NULL,
  fields json NOT NULL,
  origins text[] NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, name)
);
ALTER TABLE mail_templates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON mail_templates;
CREATE POLICY project ON mail_templates
  USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
    ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);
