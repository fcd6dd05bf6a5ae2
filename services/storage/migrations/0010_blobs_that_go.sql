-- A blob that is being removed: no file can claim it any more, though no transaction waits for the store.
ALTER TABLE loose_blobs ADD COLUMN is_going boolean NOT NULL DEFAULT false;
