-- Images made from files, which give way where files need the room.
ALTER TABLE totals ADD COLUMN image_bytes bigint NOT NULL DEFAULT 0;
UPDATE totals SET image_bytes = counted.bytes
  FROM (SELECT project_number, sum(size_bytes) AS bytes FROM images GROUP BY project_number) counted
 WHERE counted.project_number = totals.project_number;
CREATE INDEX images_oldest ON images (project_number, created_at, blob_key);
