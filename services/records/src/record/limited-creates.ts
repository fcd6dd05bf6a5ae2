import { ApiError } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import { checkEpoch } from '../collections/current-slots.ts';
import type { Place } from '../collections/forbidden.ts';
import type { RecordCount } from '../collections/stored/record-counts.ts';
import { epochMsSql, inCollection } from '../sql.ts';
import { toIso } from '../timestamps.ts';

/** Where the records are to be made. */
export type LimitedPlace = Place & { collection: Collection };

/** What the collection's owner can do about a limit. */
export const limitHint = ({ project, collection }: Place, limit: string): string =>
  `The project’s owner sets it by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"limits": {"${limit}": …}}; null takes it away.`;

/** New records, and what they count for. */
interface Limited {
  counts?: readonly RecordCount[];
  records: readonly unknown[];
  /** There may be a record of this id. */
  isIdChosen?: boolean | undefined;
}

interface Held {
  number: number;
  key: string;
  records: number;
  ends_ms: number | null;
}

const inWords = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60);
  return minutes > 1 ? `${minutes} minutes` : `${seconds} seconds`;
};

const inRecords = (count: number) => (count === 1 ? 'one record' : `${count} records`);

const refusal = (
  place: LimitedPlace,
  { limit, most, since }: RecordCount,
  { records, ends_ms }: Pick<Held, 'records' | 'ends_ms'>,
  more: number,
): ApiError => {
  const name = JSON.stringify(place.collection.name);
  const hint = limitHint(place, limit);
  const tooMany = more > 1 ? `, and these are ${more} more.` : '.';
  if (since === null)
    return new ApiError(
      'limit_reached',
      `You may have at most ${inRecords(most)} in ${name}: you have ${records}${tooMany}`,
      { hint },
    );
  const whose =
    limit === 'perUserPerHour'
      ? `You may make at most ${inRecords(most)} in ${name} within an hour: you have made ${records}${tooMany}`
      : `One network may make at most ${inRecords(most)} in ${name} within an hour: yours has made ${records}${tooMany}`;
  // More at once than an hour takes pass at no time.
  if (ends_ms === null) return new ApiError('limit_reached', whose, { hint });
  const retryAfterSeconds = Math.max(1, Math.ceil((ends_ms - since) / 1000));
  const message = `${whose} Try again in ${inWords(retryAfterSeconds)}.`;
  return new ApiError('rate_limited', message, { hint, retryAfterSeconds });
};

/**
 * @throws ApiError limit_reached, rate_limited where so many records more are too many by now; StaleSlots where the
 * collection is another one meanwhile
 */
export const checkCounts = async (
  database: Database,
  place: LimitedPlace,
  { counts = [], records: { length: more } }: Limited,
): Promise<void> => {
  if (counts.length === 0) return;
  await checkEpoch(database, place.collection);
  const { projectNumber, id } = place.collection;
  const now = counts.find(({ since }) => since !== null)?.since ?? 0;
  const held = await database.query<Held>(
    `SELECT number, key, records, ${epochMsSql('ends_at')} AS ends_ms FROM record_counts
     WHERE ${inCollection} AND number = ANY ($3::int[]) AND key = ANY ($4::text[])
       AND (ends_at <= $5::timestamptz) IS NOT TRUE`,
    [
      projectNumber,
      id,
      counts.map(({ number }) => number),
      counts.map(({ key }) => key),
      toIso(now),
    ],
  );
  for (const count of counts) {
    const { records = 0, ends_ms = null } =
      held.find(({ number, key }) => number === count.number && key === count.key) ?? {};
    if (records + more <= count.most) continue;
    throw refusal(place, count, { records, ends_ms: more > count.most ? null : ends_ms }, more);
  }
};

/** Where others have made as many meanwhile, the reason is gone again by the time it is looked for. */
const maxTries = 3;

/**
 * Runs a write of new records. Where a limit keeps it from being made, whether the statement says so or the table,
 * @throws ApiError limit_reached, rate_limited
 */
export const withinLimits = async <T>(
  database: Database,
  place: LimitedPlace,
  limited: Limited,
  write: () => Promise<T>,
): Promise<T> => {
  if (!limited.counts?.length) return write();
  // What is refused by the table ends no transaction around it.
  const attempt = () => (database.isInTransaction() ? database.transaction(write) : write());
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      const written = await attempt();
      if (written) return written;
      if (limited.isIdChosen) {
        await checkCounts(database, place, limited);
        return written;
      }
    } catch (error) {
      if (violatedConstraint(error) !== 'record_counts_most') throw error;
    }
    await checkCounts(database, place, limited);
  }
  throw new ApiError('conflict', 'Too much is written here just now. Try again.');
};
