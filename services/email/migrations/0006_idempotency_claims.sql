-- For calls that ask who may get mail: the key is claimed first, and no transaction is held meanwhile.
ALTER TABLE idempotency ALTER COLUMN sealed_answer DROP NOT NULL, ADD COLUMN claim uuid;
