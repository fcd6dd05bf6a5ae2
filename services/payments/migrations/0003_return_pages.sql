-- Where the payer wants to go, if return_url is our page that names it first.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS return_target text;
