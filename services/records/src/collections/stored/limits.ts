import type { CollectionLimits, LimitsChange } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { checkDropping, lockCollection, raiseEpoch, startDropping } from './generations.ts';

/** What callers may do in a collection at most. */
export interface KeptLimits extends CollectionLimits {
  /** Under which it is counted how many records users own, where `perUser` says how many. */
  number?: number;
}

/** `building`: the records from before are still being counted for `perUser`. */
export type LimitsState = 'building' | 'ready';

const merge = (current: CollectionLimits, change: LimitsChange) => {
  const all = Object.entries({ ...current, ...change });
  return Object.fromEntries(all.filter(([, most]) => most !== null)) as CollectionLimits;
};

/**
 * Sets the limits that are named, in the surrounding transaction; null takes one away, or all.
 * @throws ApiError conflict where it was done too often just now
 */
export const setLimits = async (
  database: Database,
  collection: CollectionKey,
  change: LimitsChange | null,
): Promise<void> => {
  await lockCollection(database, collection);
  const key = [collection.projectNumber, collection.id];
  const [kept] = await database.query<{ limits: CollectionLimits }>(
    `SELECT limits FROM collections WHERE ${inCollection}`,
    key,
  );
  const limits = change === null ? {} : merge(kept?.limits ?? {}, change);
  const rows = await database.query<{ number: number; state: LimitsState | 'dropping' }>(
    `SELECT number, state FROM record_limits WHERE ${inCollection}`,
    key,
  );
  const counted = rows.find(({ state }) => state !== 'dropping');
  if (limits.perUser !== undefined && !counted) {
    const number = await raiseEpoch(database, collection);
    await database.query(
      `INSERT INTO record_limits (project_id, coll_id, number, state) VALUES ($1, $2, $3, 'building')`,
      [...key, number],
    );
  }
  if (limits.perUser === undefined && counted) {
    checkDropping(rows.length);
    await startDropping(database, 'record_limits', collection, counted.number);
    await raiseEpoch(database, collection);
  }
  await database.query(`UPDATE collections SET limits = $3 WHERE ${inCollection}`, [
    ...key,
    JSON.stringify(limits),
  ]);
};

const ofCollection =
  'FROM record_limits WHERE record_limits.project_id = $1 AND record_limits.coll_id = collections.coll_id';

/** Of the collection in a statement that selects from `collections`, as statements need them: JSON; null where there are none. */
export const limitsSql = `nullif(limits || coalesce((SELECT jsonb_build_object('number', number) ${ofCollection} AND state <> 'dropping'), '{}'), '{}')`;

/** As the list of collections shows them: two columns. */
export const shownLimitsSql = `nullif(limits, '{}') AS limits, (SELECT state ${ofCollection} AND state <> 'dropping') AS "limitsState"`;
