-- Up Migration

-- The quota counts shares too: collections that have some are counted anew, as each is once a week.
-- One by one: on a cluster some of these tables may not be spread yet.
DO $$ DECLARE
  shared record;
BEGIN
  FOR shared IN SELECT DISTINCT project_id, coll_id FROM shares LOOP
    UPDATE collections SET counted_at = now() - interval '8 days'
      WHERE project_id = shared.project_id AND coll_id = shared.coll_id AND counted_at IS NOT NULL;
  END LOOP;
END $$;
