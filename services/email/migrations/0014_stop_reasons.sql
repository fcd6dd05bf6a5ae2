-- Why a project, or its visitors, may not send: as its owner was told; null of stops from before.
ALTER TABLE sending_stops ADD COLUMN IF NOT EXISTS reason text;
ALTER TABLE visitor_stops ADD COLUMN IF NOT EXISTS reason text;
