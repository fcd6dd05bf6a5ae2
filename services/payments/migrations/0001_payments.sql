CREATE TABLE payments (
  id uuid PRIMARY KEY,
  project_number integer NOT NULL,
  project_id text NOT NULL,
  user_id uuid,
  provider text NOT NULL CHECK (provider IN ('test-checkout', 'stripe')),
  -- Null until the provider's answer is recorded: nobody has been told of such a payment.
  session_id text,
  -- What the provider calls the money that moved; known once it did.
  charge_id text,
  status text NOT NULL DEFAULT 'open'
    CHECK (status IN ('open', 'paid', 'failed', 'expired', 'refunded')),
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  items jsonb NOT NULL,
  metadata jsonb NOT NULL,
  return_url text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  paid_at timestamptz,
  -- When the sweep asks the provider next, and how often it has.
  check_at timestamptz NOT NULL,
  checks integer NOT NULL DEFAULT 0,
  UNIQUE (project_number, session_id)
);
CREATE INDEX payments_newest ON payments (project_number, created_at DESC, id DESC);
CREATE INDEX payments_charge ON payments (project_number, charge_id) WHERE charge_id IS NOT NULL;
CREATE INDEX payments_unsettled ON payments (check_at) WHERE status = 'open';
CREATE INDEX payments_user ON payments (project_number, user_id) WHERE user_id IS NOT NULL;

-- The test checkout's own books: what a real provider would keep.
CREATE TABLE test_sessions (
  id text PRIMARY KEY,
  project_number integer NOT NULL,
  payment_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'expired', 'refunded')),
  expires_at timestamptz NOT NULL,
  UNIQUE (project_number, payment_id)
);

CREATE TABLE secrets (
  project_number integer PRIMARY KEY,
  sealed bytea NOT NULL,
  hint text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  updated_at timestamptz NOT NULL
);

-- Webhook events that were heard: a repetition changes nothing.
CREATE TABLE heard_events (
  project_number integer NOT NULL,
  event_id text NOT NULL,
  heard_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, event_id)
);
CREATE INDEX heard_events_heard_at ON heard_events (heard_at);

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
  sealed_answer bytea,
  claim uuid,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);
