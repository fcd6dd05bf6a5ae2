import { ApiError, type EventPayloads, isUuid, type Share, shareRoutes } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { checkRead, recordNotFound, rowPolicySql } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { checkTable, holdTable } from '../giants/current-table.ts';
import { recordsTable } from '../giants/records-table.ts';
import { onCurrentSlots } from '../slots/current-slots.ts';
import { inCollection, isoTimeSql, startParameters } from '../sql.ts';
import { createRecordEmailShares } from './email-shares.ts';
import type { RecordTarget } from './refusals.ts';

/** With a user, or with an address. */
export type NewShare = Pick<Share, 'userId' | 'email' | 'may'>;

interface ShareOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  refresh: Collections['refresh'];
  now: () => number;
}

/**
 * With whom records are shared. Their owners and the project's own callers decide it; who merely may
 * change a record does not. All methods throw ApiError: not_found for a record that the caller does not
 * see, forbidden where it is not theirs.
 */
export interface Shares {
  /** Another share with the same user or address is replaced. @throws ApiError conflict, quota_reached */
  put(target: RecordTarget, share: NewShare): Promise<Share>;
  list(target: RecordTarget): Promise<Share[]>;
  /** @param who id or address, as it was shared; of the caller both end */
  remove(target: RecordTarget, who: string): Promise<void>;
}

/**
 * A table of WITH, with a comma before it: the shares of records go with them.
 * @param written has a row where something was written
 */
export const unsharedSql = (isTheirs: string, written: string): string =>
  `, unshared AS (DELETE FROM shares WHERE project_id = $1 AND coll_id = $2 AND ${isTheirs} AND EXISTS (SELECT FROM ${written}))`;

const ofRecord = 'project_id = $1 AND coll_id = $2 AND record_id = $3';

export const createShares = ({ database, outbox, refresh, now }: ShareOptions): Shares => {
  const emailShares = createRecordEmailShares(database, outbox, now);

  /** Whether it is the caller's. @param lock SQL that keeps others from sharing it meanwhile */
  const isOwn = async ({ collection, access, id }: RecordTarget, lock = ''): Promise<boolean> => {
    checkRead(access);
    if (!isUuid(id)) throw recordNotFound();
    const parameters = startParameters(collection, id);
    const readable = rowPolicySql(access.rights.read, access, parameters) ?? 'true';
    const [row] = await database.query<{ owner_id: string | null; readable: boolean | null }>(
      `SELECT owner_id, ${readable} AS readable FROM ${recordsTable(collection)}
        WHERE ${inCollection} AND id = $3 ${lock}`,
      parameters.values,
    );
    await checkTable(database, collection);
    if (!row?.readable) throw recordNotFound();
    return access.userId === null || row.owner_id === access.userId;
  };

  const checkOwn = async (target: RecordTarget, lock?: string) => {
    if (await isOwn(target, lock)) return;
    throw new ApiError('forbidden', 'Only its owner decides with whom a record is shared.');
  };

  const values = ({ collection, id }: RecordTarget) => [
    collection.projectNumber,
    collection.id,
    id,
  ];

  const put = (target: RecordTarget, { userId, email, may }: NewShare): Promise<Share> =>
    database.transaction(async () => {
      await holdTable(database, target.collection);
      await checkOwn(target, 'FOR NO KEY UPDATE');
      if (!target.access.compiled.uses.shared) {
        throw new ApiError('conflict', 'The rules of this collection know no shares.', {
          hint: 'The project’s owner adds "shared" to its rules, as in {"read":["owner","shared"],"create":["users"],"change":["owner","shared"]}.',
        });
      }
      if (email !== undefined) return emailShares.put(target, email, may);
      const createdAt = new Date(now());
      const [row] = await database.query(
        `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at)
         SELECT $1, $2, $3, $4, $5, $6
          WHERE (SELECT count(*) FROM shares WHERE ${ofRecord} AND (user_id, email) <> ($4, '')) < $7
         ON CONFLICT (project_id, coll_id, record_id, user_id, email)
           DO UPDATE SET may = excluded.may, created_at = excluded.created_at
         RETURNING 1`,
        [...values(target), userId, may, createdAt, shareRoutes.maxShares],
      );
      if (row) return { userId, may, createdAt: createdAt.toISOString() };
      const most = `A record can be shared with at most ${shareRoutes.maxShares} users and addresses.`;
      throw new ApiError('quota_reached', most);
    });

  const list = async (target: RecordTarget): Promise<Share[]> => {
    await checkOwn(target);
    const rows = await database.query<Required<Share>>(
      `SELECT user_id AS "userId", email, may, ${isoTimeSql('created_at')} AS "createdAt" FROM shares
        WHERE ${ofRecord} ORDER BY email, user_id LIMIT $4`,
      [...values(target), shareRoutes.maxShares],
    );
    return rows.map(({ userId, email, ...share }) => ({
      ...(email ? { email } : { userId }),
      ...share,
    }));
  };

  const removeShare = async (target: RecordTarget, who: string, isWithCaller: boolean) => {
    if (who.includes('@')) return emailShares.remove(target, who.trim().toLowerCase());
    if (!isUuid(who)) return false;
    // What a user has by their address is theirs alone to end by their id.
    const condition = isWithCaller ? '' : " AND email = ''";
    const deletion = `DELETE FROM shares WHERE ${ofRecord} AND user_id = $4${condition} RETURNING 1`;
    return (await database.query(deletion, [...values(target), who])).length > 0;
  };

  const remove = async (target: RecordTarget, who: string): Promise<void> => {
    const isWithCaller = who === target.access.userId;
    await (isWithCaller ? isOwn(target) : checkOwn(target));
    if (await removeShare(target, who, isWithCaller)) return;
    throw new ApiError('not_found', 'It is not shared with this user.');
  };

  return {
    put: (target, share) => onCurrentSlots(refresh, target, (current) => put(current, share)),
    list: (target) => onCurrentSlots(refresh, target, list),
    remove: (target, who) => onCurrentSlots(refresh, target, (current) => remove(current, who)),
  };
};
