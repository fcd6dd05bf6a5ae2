-- The price that was in force when `reserved_millicredits` was reserved.
ALTER TABLE resumable_uploads ADD COLUMN millicredits_per_unit bigint;
UPDATE resumable_uploads SET millicredits_per_unit = 1000 WHERE call_id IS NOT NULL;
