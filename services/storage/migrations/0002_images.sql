-- Made from files when somebody first asked for them.
CREATE TABLE images (
  project_number bigint NOT NULL,
  file_id uuid NOT NULL,
  variant text NOT NULL,
  media_type text NOT NULL,
  size_bytes bigint NOT NULL,
  blob_key text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, file_id, variant),
  FOREIGN KEY (project_number, file_id) REFERENCES files
);
