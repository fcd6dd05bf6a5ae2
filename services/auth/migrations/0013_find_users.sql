-- Users by how their address or their name begins.
CREATE INDEX IF NOT EXISTS users_email_begins ON users (project_number, email text_pattern_ops);
CREATE INDEX IF NOT EXISTS users_name_begins ON users (project_number, lower(name) text_pattern_ops)
  WHERE name IS NOT NULL;
CREATE INDEX IF NOT EXISTS users_created ON users (project_number, created_at);
