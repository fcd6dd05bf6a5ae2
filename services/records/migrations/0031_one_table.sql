-- Up Migration

-- Collections of a million records had tables of their own. Their records go back to the table that all share, and
-- who uses such a collection waits for it.
DO $$
DECLARE
  moved record;
  own regclass;
  owner name;
  is_lent boolean;
  columns text;
BEGIN
  FOR moved IN SELECT project_id, coll_id, own_table FROM collections WHERE own_table IS NOT NULL LOOP
    own := to_regclass(format('records_large.p%s_c%s', moved.project_id, moved.coll_id));
    IF moved.own_table = 'used' AND own IS NOT NULL THEN
      -- The service's role has made it, of which the one that migrates need not have the rights.
      owner := (SELECT relowner::regrole FROM pg_class WHERE oid = own);
      is_lent := NOT pg_has_role(owner, 'USAGE');
      IF is_lent THEN
        EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT TRUE', owner);
      END IF;
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', own);
      columns := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
        WHERE attrelid = 'records'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
          AND attname IN (SELECT attname FROM pg_attribute WHERE attrelid = own AND attnum > 0 AND NOT attisdropped));
      -- Those that had stayed behind.
      DELETE FROM records WHERE project_id = moved.project_id AND coll_id = moved.coll_id;
      EXECUTE format('INSERT INTO records (%1$s) SELECT %1$s FROM %2$s ORDER BY id', columns, own);
      IF is_lent THEN
        EXECUTE format('REVOKE %I FROM CURRENT_USER', owner);
      END IF;
    END IF;
    UPDATE collections SET own_table = NULL, epoch = epoch + 1
      WHERE project_id = moved.project_id AND coll_id = moved.coll_id;
  END LOOP;
END $$;

-- Each by itself: Citus sends the text around a change to its nodes, which would be this whole file. The column
-- own_table is read by the release before.
DO $$ BEGIN
  DROP SCHEMA IF EXISTS records_large CASCADE;
  DROP TABLE IF EXISTS moves, moved_changes;
  DROP FUNCTION IF EXISTS hold_table(int8, int4), copy_changes(int8, int4, int4),
    switch_table(int8, int4, int4, text), bound_statistics(regclass);
END $$;
