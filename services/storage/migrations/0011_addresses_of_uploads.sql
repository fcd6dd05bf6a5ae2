-- From where it was opened: a hash of the network address, null where whoever runs the project opened it.
ALTER TABLE resumable_uploads ADD COLUMN opened_from bytea;
