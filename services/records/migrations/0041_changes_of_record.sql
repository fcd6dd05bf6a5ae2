-- Up Migration

-- Of a record that has changed 100,000 times, such as a counter, one change is found without reading the others.
CREATE INDEX IF NOT EXISTS changes_of_record_in_order ON changes (project_id, coll_id, record_id, seq) WHERE kind <> 'c';
DROP INDEX IF EXISTS changes_of_record;
