-- A statement reaches the rows of the project that its connection is for, whatever its WHERE says;
-- outside of any project none (docs/decisions).
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'mails', 'suppressions', 'suppressed_addresses', 'reports', 'sending_stops', 'held_projects', 'visitor_days'
  ] LOOP
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
