-- When a receiver last took an event, and when one was last given up while others were taken.
ALTER TABLE webhooks ADD COLUMN IF NOT EXISTS delivered_at timestamptz;
ALTER TABLE webhooks ADD COLUMN IF NOT EXISTS parked_at timestamptz;
