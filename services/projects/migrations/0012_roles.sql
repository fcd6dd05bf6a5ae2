-- What the users of roles may beyond what rules say: {"<role>": ["<power>", …]}.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS roles jsonb NOT NULL DEFAULT '{}';
