-- What a direct upload may bring, and from where it was opened: a hash of the network address, null where
-- whoever runs the project opened it.
ALTER TABLE direct_uploads ADD COLUMN size_bytes bigint NOT NULL DEFAULT 0, ADD COLUMN opened_from bytea;
