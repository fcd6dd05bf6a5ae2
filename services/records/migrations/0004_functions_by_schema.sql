-- Up Migration

-- The nodes of a Citus cluster have another search path, so that functions call each other by schema.

CREATE OR REPLACE FUNCTION slot_key(v jsonb) RETURNS jsonb IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT CASE WHEN jsonb_typeof(v) = 'string' AND length(v #>> '{}') > 128
    THEN to_jsonb(left(v #>> '{}', 128)) ELSE records.sort_key(v) END
$$;

CREATE OR REPLACE FUNCTION path_values(document jsonb, path text[]) RETURNS TABLE (v jsonb, by_position boolean)
IMMUTABLE PARALLEL SAFE ROWS 4 COST 1000 LANGUAGE plpgsql AS $$
DECLARE
  segment text;
  index int;
  list jsonb;
BEGIN
  v := document;
  by_position := false;
  FOR i IN 1 .. cardinality(path) LOOP
    segment := path[i];
    IF jsonb_typeof(v) IS DISTINCT FROM 'array' THEN
      v := v -> segment;
      CONTINUE;
    END IF;
    list := v;
    index := CASE WHEN segment ~ '^(0|[1-9][0-9]{0,8})$' THEN segment::int END;
    IF index IS NULL OR list @? '$[*] ? (@.type() == "object")' THEN
      FOR v IN SELECT e -> segment FROM jsonb_array_elements(list) e
        WHERE jsonb_typeof(e) = 'object' AND (index IS NULL OR e ? segment)
      LOOP
        IF i = cardinality(path) THEN
          RETURN NEXT;
        ELSE
          RETURN QUERY SELECT p.v, p.by_position FROM records.path_values(v, path[i + 1:]) p;
        END IF;
      END LOOP;
    END IF;
    IF index IS NULL OR index >= jsonb_array_length(list) THEN
      RETURN;
    END IF;
    v := list -> index;
    by_position := i = cardinality(path);
  END LOOP;
  RETURN NEXT;
END
$$;

-- The fields of `inc` with what they are after it is added: exact, then rounded to the nearest double. It is
-- a function because Citus takes IMMUTABLE expressions only in an UPDATE, and to_jsonb is declared STABLE.
CREATE FUNCTION sums(document jsonb, inc jsonb) RETURNS jsonb IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT coalesce(jsonb_object_agg(key, to_jsonb((coalesce((document ->> key)::numeric, 0) + value::numeric)::float8)), '{}')
  FROM jsonb_each_text(inc)
$$;
