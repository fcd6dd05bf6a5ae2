ALTER TABLE payments
  -- Why a session was closed before it was paid.
  ADD COLUMN IF NOT EXISTS closed_reason text CHECK (closed_reason IN ('mode_changed')),
  -- When money arrived for a session of another mode than the project's: it paid nothing.
  ADD COLUMN IF NOT EXISTS late_paid_at timestamptz,
  -- Whether who holds the session's id is its payer: no user opened it, and no record shows the id.
  ADD COLUMN IF NOT EXISTS holder_sees boolean NOT NULL DEFAULT false,
  -- What was given back, or is about to be: a list of {id, amount, isWhole, restock, status, createdAt}.
  ADD COLUMN IF NOT EXISTS refunds jsonb,
  -- When the sweep asks the provider again for refunds that have not ended.
  ADD COLUMN IF NOT EXISTS refund_check_at timestamptz;

UPDATE payments SET holder_sees = true
 WHERE user_id IS NULL AND on_paid IS NULL AND NOT holder_sees;

CREATE INDEX IF NOT EXISTS payments_refunds_due ON payments (refund_check_at)
  WHERE refund_check_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_by_status ON payments (project_number, status, created_at DESC, id DESC);

ALTER TABLE on_paid_rules
  -- What pays for a record. Rules of before said nothing of it: the record's own items do.
  ADD COLUMN IF NOT EXISTS pays jsonb NOT NULL DEFAULT '"items"';
