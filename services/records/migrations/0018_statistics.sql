-- Up Migration

-- ANALYZE reads 300 rows for each unit of the largest target, with their whole documents, and keeps what others
-- have changed from being cleaned up meanwhile: beside many writes only two thirds of the patches were HOT. No
-- plan rests on statistics of documents. With 300 each project is still known that has 0.3 % of the records.
DO $$ BEGIN
  ALTER TABLE records ALTER data SET STATISTICS 0, ALTER project_id SET STATISTICS 300, ALTER coll_id SET STATISTICS 300;
EXCEPTION
  -- Citus changes no targets of a table that it has spread.
  WHEN feature_not_supported THEN NULL;
END $$;
