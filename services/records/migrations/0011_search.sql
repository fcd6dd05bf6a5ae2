-- Up Migration

-- Which collections can be searched, and by which fields (null: all). As unique_fields: writers fill in the words of
-- their records from the beginning on, those from before follow, then it is ready.
CREATE TABLE IF NOT EXISTS searches (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  -- The epoch that began with it: no other one of the collection gets the same one.
  number int4 NOT NULL,
  fields text[],
  state text NOT NULL CHECK (state IN ('building', 'ready', 'dropping')),
  is_known boolean NOT NULL DEFAULT false,
  position uuid,
  PRIMARY KEY (project_id, coll_id, number)
);
CREATE INDEX IF NOT EXISTS searches_under_way ON searches (number) WHERE state <> 'ready';

-- The words of records. Each begins with its project, collection and number, so that the index finds those of
-- one collection alone.
CREATE TABLE IF NOT EXISTS search_texts (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  number int4 NOT NULL,
  record_id uuid NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (project_id, coll_id, number, record_id)
);
-- Without the list of pending entries, which every search would look through for all projects.
CREATE INDEX IF NOT EXISTS search_texts_words ON search_texts USING gin (words) WITH (fastupdate = off);

-- The words of a document's strings, or of those that the paths of the fields reach: of 65,536 characters at
-- most. A word longer than 200 characters is none.
CREATE OR REPLACE FUNCTION search_words(document jsonb, fields text[], prefix text) RETURNS tsvector
IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT coalesce(string_agg('''' || replace(replace(prefix || lexeme, '\', '\\'), '''', '''''') || ''':' || array_to_string(positions, ','), ' '), '')::tsvector
  FROM unnest(to_tsvector('pg_catalog.simple', (
    SELECT coalesce(left(string_agg(part #>> '{}', ' '), 65536), '') FROM (
      SELECT document AS v WHERE fields IS NULL
      UNION ALL
      SELECT reached.v FROM unnest(fields) field, records.path_values(document, string_to_array(field, '.')) reached) found,
      jsonb_path_query(found.v, 'strict $.** ? (@.type() == "string")') part))) words
  WHERE length(lexeme) <= 200
$$;
