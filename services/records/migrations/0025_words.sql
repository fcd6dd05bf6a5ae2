-- Up Migration

-- Case, accents and the ways in which Unicode writes the same characters make no difference (NFKC, full case folding;
-- letters with a stroke are as those without). Of Latin, Greek, Cyrillic, Hebrew and Arabic the marks go, of other
-- scripts they are part of the word.
CREATE OR REPLACE FUNCTION fold_text(t text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
  IF octet_length(t) = length(t) THEN
    RETURN lower(t);
  END IF;
  t := regexp_replace(
    normalize(casefold(left(normalize(t, NFKC), 65536) COLLATE pg_catalog.pg_unicode_fast), NFKD) COLLATE pg_catalog.pg_c_utf8,
    '[\u0300-\u036F\u0483-\u0489\u0591-\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06ED\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE00-\uFE0F\uFE20-\uFE2F\u00AD\u061C\u180E\u200C-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]+', '', 'g');
  t := replace(replace(translate(t, 'łøđħŧı', 'lodhti'), 'æ', 'ae'), 'œ', 'oe');
  RETURN CASE WHEN t IS NFC NORMALIZED THEN t ELSE normalize(t, NFC) END;
END
$$;

-- The words of a text: what stands between spaces, punctuation and symbols, but longer than 200 characters. Scripts
-- that put no spaces between their words are cut into pairs of characters (kind `pair`), and the last character of a
-- run stands by itself too (`end`), so that each one begins a word.
CREATE OR REPLACE FUNCTION cut_words(t text) RETURNS TABLE (word text, place int8, kind text)
IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
  -- Thai, Lao, Burmese, Hangul, Khmer, Han, Kana, Bopomofo.
  paired constant text := '\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303C\u3041-\u30FA\u30FC-\u30FF\u3105-\u318F\u31A0-\u31BF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7FF\uF900-\uFAFF\U00020000-\U0003FFFF';
  between text := '[[:space:][:punct:][:cntrl:]\u200B]+';
  runs text;
BEGIN
  t := left(records.fold_text(left(t, 65536)), 65536);
  IF octet_length(t) > length(t) AND t COLLATE pg_catalog.pg_c_utf8 ~ ('[' || paired || ']') THEN
    runs := regexp_replace(t COLLATE pg_catalog.pg_c_utf8, '[^' || paired || ']+', ' ', 'g');
    RETURN QUERY
      SELECT c || rtrim(next), i, CASE WHEN next = ' ' AND before <> ' ' THEN 'end' ELSE 'pair' END FROM (
        SELECT c, i, lead(c, 1, ' ') OVER run AS next, lag(c, 1, ' ') OVER run AS before
        FROM string_to_table(runs, NULL) WITH ORDINALITY characters(c, i) WINDOW run AS (ORDER BY i)) characters
      WHERE c <> ' ';
    between := '[[:space:][:punct:][:cntrl:]\u200B' || paired || ']+';
  END IF;
  RETURN QUERY
    SELECT token, i, 'word' FROM regexp_split_to_table(t COLLATE pg_catalog.pg_c_utf8, between) WITH ORDINALITY split(token, i)
    WHERE length(token) BETWEEN 1 AND 200;
END
$$;

-- The words of a document's strings, or of those that the paths of the fields reach: of 65,536 characters, and the
-- first 16,384 different ones, at most. A tsvector has a megabyte.
CREATE OR REPLACE FUNCTION search_words(document jsonb, fields text[], prefix text) RETURNS tsvector
IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
  t text;
BEGIN
  SELECT left(string_agg(part #>> '{}', ' '), 65536) INTO t FROM (
    SELECT document AS v WHERE fields IS NULL
    UNION ALL
    SELECT reached.v FROM unnest(fields) field, records.path_values(document, string_to_array(field, '.')) reached) found,
    jsonb_path_query(found.v, 'strict $.** ? (@.type() == "string")') part;
  -- No word has a quote or a backslash: they are punctuation.
  RETURN (
    SELECT coalesce(string_agg('''' || prefix || word || ''':' || places, ' '), '')::tsvector FROM (
      SELECT word, string_agg(least(place, 16383)::text, ',') AS places
      FROM records.cut_words(coalesce(t, '')) GROUP BY word ORDER BY min(place) LIMIT 16384) words);
END
$$;

-- By which rule the words of a search were cut: 1 was that of to_tsvector. Those from before are cut anew in the
-- background; `renewed` is the last record that is done.
ALTER TABLE searches ADD COLUMN IF NOT EXISTS rule int2 NOT NULL DEFAULT 1;
-- Each by itself: Citus sends the text around them to its nodes, which would be this whole file.
DO $$ BEGIN
  ALTER TABLE searches ALTER COLUMN rule SET DEFAULT 2;
END $$;
ALTER TABLE searches ADD COLUMN IF NOT EXISTS renewed uuid;
DO $$ BEGIN
  CREATE INDEX IF NOT EXISTS searches_former ON searches (number) WHERE rule < 2;
END $$;
