-- Empty files. What was written before holds the narrower rule: no table is read.
ALTER TABLE files DROP CONSTRAINT IF EXISTS files_size_bytes_check;
ALTER TABLE files ADD CONSTRAINT files_size_bytes_check CHECK (size_bytes >= 0) NOT VALID;
ALTER TABLE resumable_uploads DROP CONSTRAINT IF EXISTS resumable_uploads_size_bytes_check;
ALTER TABLE resumable_uploads
  ADD CONSTRAINT resumable_uploads_size_bytes_check CHECK (size_bytes >= 0) NOT VALID;
