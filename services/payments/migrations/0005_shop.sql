CREATE TABLE IF NOT EXISTS products (
  project_number integer NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- How many are left; null where nobody counts.
  stock integer CHECK (stock >= 0),
  active boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id)
);
CREATE INDEX IF NOT EXISTS products_newest ON products (project_number, created_at DESC, id DESC);

CREATE TABLE IF NOT EXISTS on_paid_rules (
  project_number integer NOT NULL,
  name text NOT NULL,
  collection text NOT NULL,
  set_fields jsonb NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, name)
);

ALTER TABLE payments
  -- The record that it is for, with the rule as it was at the checkout.
  ADD COLUMN IF NOT EXISTS on_paid jsonb,
  -- Null until the money has arrived, then pending until the records service has answered.
  ADD COLUMN IF NOT EXISTS record_outcome text,
  -- When the sweep tells the records service again.
  ADD COLUMN IF NOT EXISTS record_check_at timestamptz,
  ADD COLUMN IF NOT EXISTS refund_reason text;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_status_check;
-- Refunding: the money has arrived and goes back, because what it was for had been sold.
ALTER TABLE payments ADD CONSTRAINT payments_status_check
  CHECK (status IN ('open', 'paid', 'failed', 'expired', 'refunding', 'refunded'));

DROP INDEX IF EXISTS payments_unsettled;
CREATE INDEX IF NOT EXISTS payments_due ON payments (check_at) WHERE status IN ('open', 'refunding');
CREATE INDEX IF NOT EXISTS payments_records_due ON payments (record_check_at) WHERE record_outcome = 'pending';
DROP INDEX IF EXISTS payments_user;
CREATE INDEX IF NOT EXISTS payments_of_user ON payments (project_number, user_id, created_at DESC, id DESC)
  WHERE user_id IS NOT NULL;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['products', 'on_paid_rules'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('DROP POLICY IF EXISTS project ON %I', name);
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
