-- Up Migration

-- What the words of a record take, with the index: of eight kinds of texts the tables had 0.4 to 1.4 times as much.
CREATE OR REPLACE FUNCTION words_size(words tsvector) RETURNS int4
IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$ SELECT 128 + 2 * octet_length(words::text) $$;
-- As words_size, which a virtual column may not call. A stored one would rewrite the table.
ALTER TABLE search_texts ADD COLUMN IF NOT EXISTS size_bytes int4 GENERATED ALWAYS AS (128 + 2 * octet_length(words::text)) VIRTUAL;

-- `failed`: the quota was full before all words were in it.
ALTER TABLE searches DROP CONSTRAINT IF EXISTS searches_state_check;
-- For some changes Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE searches ADD CONSTRAINT searches_state_check CHECK (state IN ('building', 'ready', 'failed', 'dropping'));
END $$;

-- What is kept beside their records was not counted yet.
-- One by one: on a cluster some of these tables may not be spread yet.
DO $$ DECLARE
  kept record;
BEGIN
  FOR kept IN SELECT project_id, coll_id FROM searches UNION SELECT project_id, coll_id FROM unique_fields LOOP
    UPDATE collections SET counted_at = NULL WHERE project_id = kept.project_id AND coll_id = kept.coll_id;
  END LOOP;
END $$;
