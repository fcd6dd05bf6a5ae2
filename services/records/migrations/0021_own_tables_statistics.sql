-- Up Migration

-- LIKE takes no statistics targets along. ANALYZE of a collection's own table looks at 9,000 rows and no documents,
-- so that it holds its snapshot for a fraction of a second (0018 says why).
CREATE OR REPLACE FUNCTION bound_statistics(own regclass) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE (SELECT format('ALTER TABLE %s %s', own, string_agg(format('ALTER %I SET STATISTICS %s', attname,
      CASE attname WHEN 'data' THEN 0 ELSE 30 END), ', '))
    FROM pg_attribute WHERE attrelid = own AND attnum > 0 AND NOT attisdropped);
END
$$;

DO $$
DECLARE
  own regclass;
BEGIN
  FOR own IN SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('records_large') AND relkind = 'r' LOOP
    PERFORM records.bound_statistics(own);
  END LOOP;
EXCEPTION
  -- They belong to the service's role, which the one that migrates need not be a member of.
  WHEN insufficient_privilege THEN NULL;
END $$;
