-- Up Migration

-- Copies records once more that were written while their collection moves. Returns how many writes it has made
-- good, at most so many.
CREATE OR REPLACE FUNCTION copy_changes(project int8, coll int4, most int4) RETURNS int4 VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  own text := format('records_large.p%s_c%s', project, coll);
  columns text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = 'records.records'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '');
  changed uuid[];
BEGIN
  WITH taken AS (
    DELETE FROM records.moved_changes WHERE project_id = project AND coll_id = coll AND ctid = ANY (ARRAY(
      SELECT ctid FROM records.moved_changes WHERE project_id = project AND coll_id = coll LIMIT most))
    RETURNING id)
  SELECT array_agg(id) INTO changed FROM taken;
  IF changed IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE format('DELETE FROM %s WHERE project_id = $1 AND coll_id = $2 AND id = ANY ($3)', own)
    USING project, coll, changed;
  EXECUTE format('INSERT INTO %s (%2$s) SELECT %2$s FROM records.records
    WHERE project_id = $1 AND coll_id = $2 AND id = ANY ($3)', own, columns) USING project, coll, changed;
  RETURN cardinality(changed);
END
$$;

-- From the end of the caller's transaction on, a collection that moves is in its own table. Writers wait from the
-- lock to that end: the last changes are few. Raises lock_not_available where they would wait for longer.
CREATE OR REPLACE FUNCTION switch_table(project int8, coll int4, most int4, patience text) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM records.copy_changes(project, coll, most);
  PERFORM set_config('lock_timeout', patience, true);
  PERFORM pg_advisory_xact_lock(hashtextextended('records table ' || project || ' ' || coll, 0));
  IF records.copy_changes(project, coll, most) = most THEN
    RAISE lock_not_available;
  END IF;
  UPDATE records.collections SET own_table = 'used', epoch = epoch + 1
    WHERE project_id = project AND coll_id = coll AND own_table = 'filling';
END
$$;
