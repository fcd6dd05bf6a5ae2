-- Up Migration

CREATE TABLE collections (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  name text COLLATE "C" NOT NULL,
  access text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Goes up whenever the slots or the place of the records change.
  epoch int4 NOT NULL DEFAULT 1,
  rel text NOT NULL DEFAULT 'records',
  slots jsonb NOT NULL DEFAULT '{}',
  counted boolean NOT NULL DEFAULT false,
  row_count int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, coll_id),
  CONSTRAINT collections_name UNIQUE (project_id, name)
) WITH (fillfactor = 70);

-- The keys of all objects in a document, at every depth.
CREATE FUNCTION key_count(document jsonb) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT count(*) FROM jsonb_path_query(document, 'strict $.** ? (@.type() == "object").keyvalue()')
$$;

-- The id is a UUIDv7 whose time is created_at, so that the primary key is the order of creation.
CREATE TABLE records (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  id uuid NOT NULL,
  owner_id uuid,
  created_at timestamptz NOT NULL,
  -- Grows with every change of the record: it is the record's version.
  updated_at timestamptz NOT NULL,
  data jsonb NOT NULL,
  size_bytes int4 NOT NULL GENERATED ALWAYS AS (octet_length(data::text)) STORED,
  k1 jsonb, k2 jsonb, k3 jsonb, k4 jsonb, k5 jsonb, k6 jsonb,
  PRIMARY KEY (project_id, coll_id, id),
  CONSTRAINT records_size CHECK (size_bytes <= 1048576),
  -- A key takes at least 7 bytes ('"": 1, '), so that small documents need no counting.
  CONSTRAINT records_keys CHECK (size_bytes <= 7168 OR key_count(data) <= 1024)
) WITH (
  fillfactor = 90,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX records_k1 ON records (project_id, coll_id, k1, id) WHERE k1 IS NOT NULL;
CREATE INDEX records_k2 ON records (project_id, coll_id, k2, id) WHERE k2 IS NOT NULL;
CREATE INDEX records_k3 ON records (project_id, coll_id, k3, id) WHERE k3 IS NOT NULL;
CREATE INDEX records_k4 ON records (project_id, coll_id, k4, id) WHERE k4 IS NOT NULL;
CREATE INDEX records_k5 ON records (project_id, coll_id, k5, id) WHERE k5 IS NOT NULL;
CREATE INDEX records_k6 ON records (project_id, coll_id, k6, id) WHERE k6 IS NOT NULL;

-- The planner would multiply the shares of project and collection, which depend on each other.
ALTER TABLE records ALTER project_id SET STATISTICS 1000, ALTER coll_id SET STATISTICS 1000;
CREATE STATISTICS records_tenant (dependencies, ndistinct, mcv) ON project_id, coll_id FROM records;

CREATE TABLE count_delta (
  project_id int8 NOT NULL,
  coll_id int4 NOT NULL,
  d int4 NOT NULL
);
CREATE INDEX count_delta_collection ON count_delta (project_id, coll_id);

-- The sort order of the API as one value per stored value (SQL null: the field is missing):
-- arrays and objects (one group) < missing and null (equals) < strings by code point < numbers < false < true.
-- It rests on jsonb's own order, in which the empty array is below everything, and on the database's
-- collation, which has to be C or C.UTF-8.
CREATE FUNCTION sort_key(v jsonb) RETURNS jsonb IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT CASE jsonb_typeof(v) WHEN 'array' THEN '[]'::jsonb WHEN 'object' THEN '[]'::jsonb
    ELSE coalesce(v, 'null'::jsonb) END
$$;

-- What a slot column keeps: the sort key with long strings cut, because a B-tree entry has at most 2,704
-- bytes. Every string is cut at the same character, so that a < b implies slot_key(a) <= slot_key(b).
CREATE FUNCTION slot_key(v jsonb) RETURNS jsonb IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT CASE WHEN jsonb_typeof(v) = 'string' AND length(v #>> '{}') > 128
    THEN to_jsonb(left(v #>> '{}', 128)) ELSE sort_key(v) END
$$;

-- The values that a path reaches, MongoDB's way: an array on the way is entered through its objects, and by
-- position where the segment is a number. A missing field is a row with SQL null. `by_position` tells that
-- the last step was a position, after which an array counts as one value and not as its elements.
CREATE FUNCTION path_values(document jsonb, path text[]) RETURNS TABLE (v jsonb, by_position boolean)
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
          RETURN QUERY SELECT p.v, p.by_position FROM path_values(v, path[i + 1:]) p;
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

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  topic text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);
