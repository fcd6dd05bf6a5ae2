-- Who has used how much of what a project's calls cost, by day (UTC): as the log of changes names callers
-- (`user:<id>`), and network addresses of visitors and users. An empty name is everybody past the bound of a day.
CREATE TABLE spenders (
  project_number int8 NOT NULL,
  day date NOT NULL,
  kind text NOT NULL CHECK (kind IN ('caller', 'address')),
  name text COLLATE "C" NOT NULL,
  calls int8 NOT NULL,
  millicredits int8 NOT NULL,
  PRIMARY KEY (project_number, day, kind, name)
);
CREATE INDEX spenders_day ON spenders (day);
CREATE INDEX spenders_name ON spenders (project_number, kind, name);
