-- Up Migration

-- Why a field that lists look through records for has no index, as the last report found it.
ALTER TABLE observations ADD COLUMN IF NOT EXISTS state text NOT NULL DEFAULT 'seldom';
