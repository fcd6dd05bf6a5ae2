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
UPDATE collections c SET counted_at = NULL
WHERE EXISTS (SELECT FROM searches s WHERE s.project_id = c.project_id AND s.coll_id = c.coll_id)
   OR EXISTS (SELECT FROM unique_fields u WHERE u.project_id = c.project_id AND u.coll_id = c.coll_id);
