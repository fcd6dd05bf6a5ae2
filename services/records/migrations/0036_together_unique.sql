-- Up Migration

-- Fields whose values no two records have together; null where it is `field` alone.
ALTER TABLE unique_fields ADD COLUMN IF NOT EXISTS fields text[];

-- The key of values that are unique together, from that of each: all have 32 bytes, so that no other values have the
-- same ones behind each other. Null where one of them is missing.
CREATE OR REPLACE FUNCTION together_key(keys bytea[]) RETURNS bytea IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE
    WHEN array_position(keys, NULL) IS NOT NULL THEN NULL
    WHEN cardinality(keys) = 1 THEN keys[1]
    ELSE sha256((SELECT string_agg(key, '' ORDER BY n) FROM unnest(keys) WITH ORDINALITY key(key, n))) END;
END
$$;
