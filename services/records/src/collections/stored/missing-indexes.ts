/**
 * Why an index that is wanted is not made. `waiting`: another one of the collection is built first. `no_values`: a sample
 * of its records has none in the field that compare, or mostly arrays and objects. `no_room`: all six are taken by fields
 * that the owner has asked for, or that were used within a day.
 */
export type NotIndexed = 'waiting' | 'no_values' | 'no_room';

/**
 * Why a field that lists look through records for has no index. `few_records`: the collection had fewer than 2,000 by the
 * last count. `seldom`: what lists looked through for it is not worth one yet. `failed`: the last try to make it did.
 */
export type WhyMissing = NotIndexed | 'few_records' | 'seldom' | 'failed';

const shownFields = 10;

/** As the list of collections shows them, of the collection in a statement that selects from `collections`: JSON. */
export const missingIndexesSql = `(SELECT coalesce(json_agg(json_build_object('field', field, 'scans', scans,
    'scannedMs', greatest(0, round(scanned_ms - inherited_ms)), 'state', state) ORDER BY scanned_ms DESC), '[]') FROM (
    SELECT field, scans, scanned_ms, inherited_ms, state FROM observations
    WHERE observations.project_id = $1 AND observations.coll_id = collections.coll_id
      AND since > now() - interval '1 day' AND NOT EXISTS (SELECT FROM slots WHERE slots.project_id = $1
        AND slots.coll_id = collections.coll_id AND slots.field = observations.field AND slots.state <> 'dropping')
    ORDER BY scanned_ms DESC LIMIT ${shownFields}) missing)`;
