-- Whether real money moves. Stripe names a session after the mode of its key.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS livemode boolean NOT NULL DEFAULT false;
UPDATE payments SET livemode = true
 WHERE provider = 'stripe' AND session_id LIKE 'cs\_live\_%' AND NOT livemode;

-- Projects whose keys were deleted: they sell nothing until keys, or the test checkout, are chosen.
CREATE TABLE IF NOT EXISTS closed_checkouts (project_number integer PRIMARY KEY);
INSERT INTO closed_checkouts (project_number)
SELECT DISTINCT project_number FROM payments
 WHERE provider = 'stripe' AND project_number NOT IN (SELECT project_number FROM secrets)
ON CONFLICT DO NOTHING;
