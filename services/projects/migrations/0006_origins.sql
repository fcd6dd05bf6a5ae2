-- Origins that owners say are theirs. `verified_at` is set while that is proven; checked again by a sweep.
CREATE TABLE origins (
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  id uuid NOT NULL,
  origin text COLLATE "C" NOT NULL,
  -- What the owner publishes there; no secret.
  token text NOT NULL,
  verified_at timestamptz,
  checked_at timestamptz,
  -- Checks in a row that found no proof, since it was last proven.
  failed_checks integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  CONSTRAINT origins_origin UNIQUE (project_number, origin)
);
CREATE INDEX origins_checked_at ON origins (checked_at) WHERE verified_at IS NOT NULL;

-- How many checks an owner, or a network address, has asked for in an hour.
CREATE TABLE origin_checks (
  name_hash bytea NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (name_hash, ends_at)
);
CREATE INDEX origin_checks_ends_at ON origin_checks (ends_at);
