-- Names stand in mails and on pages: no control and no direction characters, as in the contract.
CREATE FUNCTION one_line(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(nullif(
    regexp_replace(name, '[\u0001-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+', ' ', 'g'),
    ' '), 'Unnamed')
$$;
UPDATE projects SET name = one_line(name) WHERE name <> one_line(name);
UPDATE keys SET name = one_line(name) WHERE name <> one_line(name);
DROP FUNCTION one_line;
