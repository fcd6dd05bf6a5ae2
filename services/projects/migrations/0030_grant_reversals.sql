-- When the operator has taken back what was left of a grant, and why. The ledger has a correction that names the grant.
ALTER TABLE grants ADD COLUMN IF NOT EXISTS reversed_at timestamptz;
ALTER TABLE grants ADD COLUMN IF NOT EXISTS reversal_reason text;
