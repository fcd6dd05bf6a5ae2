-- Up Migration

-- RFC 7396: objects are merged, null removes, all else replaces. As deep as the patch, at most 16 levels.
CREATE FUNCTION merge_patch(document jsonb, patch jsonb) RETURNS jsonb IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_typeof(patch) <> 'object' THEN
    RETURN patch;
  END IF;
  IF jsonb_typeof(document) IS DISTINCT FROM 'object' THEN
    document := '{}';
  END IF;
  RETURN (
    SELECT document - coalesce(array_agg(key), '{}')
      || coalesce(jsonb_object_agg(key, records.merge_patch(document -> key, value)) FILTER (WHERE value <> 'null'), '{}')
    FROM jsonb_each(patch));
END
$$;
