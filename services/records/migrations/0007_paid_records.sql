-- Up Migration

-- Records that were paid for: each takes what its payment brings once, whoever tells of it how often. A row
-- outlives its record, whose id could come back.
CREATE TABLE IF NOT EXISTS paid_records (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  record_id uuid NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (project_id, coll_id, record_id)
);
