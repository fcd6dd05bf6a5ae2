CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  topic text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);

-- queued -> sending -> sent | captured | failed, or back to queued. A mail being sent belongs to the
-- worker that knows `claim`, until `lease_until`; `handed_over_at` is set before its first byte leaves.
CREATE TABLE mails (
  project_number bigint NOT NULL,
  id uuid NOT NULL,
  project_id text NOT NULL,
  -- The platform's own mails go first, and one event makes one of them.
  is_own boolean NOT NULL DEFAULT false,
  event_id uuid,
  -- Holds a one-time link.
  is_secret boolean NOT NULL DEFAULT false,
  recipients text[] NOT NULL,
  from_name text NOT NULL,
  from_address text NOT NULL,
  subject text NOT NULL,
  html text NOT NULL,
  plain_text text,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sending', 'sent', 'captured', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claim uuid,
  lease_until timestamptz,
  handed_over_at timestamptz,
  error text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  CONSTRAINT mails_event UNIQUE (event_id)
);
CREATE INDEX mails_of_project ON mails (project_number, created_at, id);
CREATE INDEX mails_due ON mails (is_own DESC, next_attempt_at) WHERE status = 'queued';
CREATE INDEX mails_waiting ON mails (project_number) WHERE status = 'queued';
CREATE INDEX mails_leased ON mails (lease_until) WHERE status = 'sending';
CREATE INDEX mails_created_at ON mails (created_at);

-- Addresses that a provider reported as bouncing or complaining: they get no more mail of the project.
CREATE TABLE suppressions (
  project_number bigint NOT NULL,
  address text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('bounce', 'complaint')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, address)
);

-- What a provider reported of a mail; its event id once.
CREATE TABLE reports (
  project_number bigint NOT NULL,
  event_id text NOT NULL,
  mail_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('bounce', 'complaint')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, event_id)
);
CREATE INDEX reports_of_project ON reports (project_number, created_at);
CREATE INDEX reports_created_at ON reports (created_at);

-- A project that may not send while `resumed_at` is null; its figures count from `resumed_at` on.
CREATE TABLE sending_stops (
  project_number bigint PRIMARY KEY,
  stopped_at timestamptz NOT NULL,
  resumed_at timestamptz
);
