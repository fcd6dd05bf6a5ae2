-- Where owners have what happens in their apps sent.
CREATE TABLE webhooks (
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  url text NOT NULL,
  -- What is told: types of events, of records with a collection behind a colon or without.
  wanted text[] NOT NULL,
  where_filter jsonb,
  sealed_secret bytea NOT NULL,
  -- Signs too, until then.
  sealed_previous bytea,
  previous_until timestamptz,
  off_reason text,
  -- Of what was written to records before, nothing is told.
  tells_since timestamptz NOT NULL,
  -- Deliveries that wait, all that are kept, and their bytes.
  waiting int4 NOT NULL DEFAULT 0,
  kept int4 NOT NULL DEFAULT 0,
  kept_bytes int8 NOT NULL DEFAULT 0,
  -- When something is to be sent next; null: nothing waits.
  due_at timestamptz,
  -- Its receiver took long last time.
  is_slow boolean NOT NULL DEFAULT false,
  -- Who sends for it, and until when nobody else does.
  worker uuid,
  lease_ends_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, name)
);
CREATE INDEX webhooks_due ON webhooks (is_slow, due_at) WHERE due_at IS NOT NULL AND off_reason IS NULL;
CREATE INDEX webhooks_leases ON webhooks (lease_ends_at) WHERE lease_ends_at IS NOT NULL;

-- Of each event one row for each webhook that wants it, however often the event arrives.
CREATE TABLE webhook_deliveries (
  project_number int8 NOT NULL,
  webhook text COLLATE "C" NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  -- What is sent, byte for byte.
  body text NOT NULL,
  bytes int4 NOT NULL,
  -- Of one key the lowest position that waits goes first, and the rest behind it.
  order_key text COLLATE "C" NOT NULL,
  position int8 NOT NULL,
  -- Where its source counts: not sent before all lower numbers have arrived.
  number int8,
  user_id uuid,
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'delivered', 'failed')),
  tries jsonb NOT NULL DEFAULT '[]',
  next_try_at timestamptz,
  occurred_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, webhook, event_id),
  FOREIGN KEY (project_number, webhook) REFERENCES webhooks (project_number, name) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (project_number, webhook, next_try_at, position)
  WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (project_number, webhook, order_key, position, event_id)
  INCLUDE (next_try_at, number) WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (project_number, webhook, created_at DESC, event_id DESC);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_user ON webhook_deliveries (project_number, user_id) WHERE user_id IS NOT NULL;

-- How far the numbered events of a project have arrived without a gap, and those behind one.
CREATE TABLE webhook_feeds (
  project_number int8 PRIMARY KEY REFERENCES projects (number) ON DELETE CASCADE,
  reached int8 NOT NULL DEFAULT 0
);
CREATE TABLE webhook_arrivals (
  project_number int8 NOT NULL REFERENCES projects (number) ON DELETE CASCADE,
  number int8 NOT NULL,
  arrived_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, number)
);
-- How often it was told what a project's webhooks want of its records.
CREATE TABLE webhook_wants (
  project_number int8 PRIMARY KEY REFERENCES projects (number) ON DELETE CASCADE,
  version int8 NOT NULL
);
CREATE INDEX webhook_arrivals_age ON webhook_arrivals (arrived_at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'webhooks', 'webhook_deliveries', 'webhook_feeds', 'webhook_arrivals', 'webhook_wants'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format($policy$
      CREATE POLICY project ON %I
       USING (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
        WITH CHECK (CASE current_setting('backlot.project', true) WHEN 'all' THEN true
         ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END)
    $policy$, name);
  END LOOP;
END
$$;
