-- Projects from before mail templates: their visitors may send any words also once there is a template, unless
-- the setting mailContent says otherwise.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS has_free_mail boolean NOT NULL DEFAULT true;
ALTER TABLE projects ALTER COLUMN has_free_mail SET DEFAULT false;
