-- Projects whose mails stay here: they are paused, or deleted.
CREATE TABLE held_projects (
  project_number bigint PRIMARY KEY
);
