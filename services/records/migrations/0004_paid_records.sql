-- Up Migration

-- Records that were paid for: each takes what its payment brings once, whoever tells of it how often.
CREATE TABLE IF NOT EXISTS paid_records (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (project_id, coll_id, record_id)
);
ALTER TABLE paid_records ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS project ON paid_records;
CREATE POLICY project ON paid_records
 USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
   ELSE project_id = nullif(current_setting('backlot.project', true), '')::int8 END)
  WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
   ELSE project_id = nullif(current_setting('backlot.project', true), '')::int8 END);
