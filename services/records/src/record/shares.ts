import { ApiError, isUuid, type Share, shareRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkRead, recordNotFound, rowPolicySql } from '../collections/access.ts';
import { inCollection, isoTimeSql, startParameters } from '../sql.ts';
import type { RecordTarget } from './refusals.ts';

export interface NewShare {
  userId: string;
  may: Share['may'];
}

/**
 * With whom records are shared. Their owners and the project's own callers decide it; who merely may
 * change a record does not. All methods throw ApiError: not_found for a record that the caller does not
 * see, forbidden where it is not theirs.
 */
export interface Shares {
  /** Another share with the same user is replaced. @throws ApiError conflict, quota_reached */
  put(target: RecordTarget, share: NewShare): Promise<Share>;
  list(target: RecordTarget): Promise<Share[]>;
  remove(target: RecordTarget, userId: string): Promise<void>;
}

const ofRecord = 'project_id = $1 AND coll_id = $2 AND record_id = $3';

export const createShares = (database: Database, now: () => number): Shares => {
  /** Whether it is the caller's. @param lock SQL that keeps others from sharing it meanwhile */
  const isOwn = async ({ collection, access, id }: RecordTarget, lock = ''): Promise<boolean> => {
    checkRead(access);
    if (!isUuid(id)) throw recordNotFound();
    const parameters = startParameters(collection, id);
    const readable = rowPolicySql(access.rights.read, access, parameters) ?? 'true';
    const [row] = await database.query<{ owner_id: string | null; readable: boolean | null }>(
      `SELECT owner_id, ${readable} AS readable FROM records
        WHERE ${inCollection} AND id = $3 ${lock}`,
      parameters.values,
    );
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

  return {
    put: (target, { userId, may }) =>
      database.transaction(async () => {
        await checkOwn(target, 'FOR NO KEY UPDATE');
        if (!target.access.compiled.uses.shared) {
          throw new ApiError('conflict', 'The rules of this collection know no shares.', {
            hint: 'The project’s owner adds "shared" to its rules, as in {"read":["owner","shared"],"create":["users"],"change":["owner","shared"]}.',
          });
        }
        const createdAt = new Date(now());
        const [row] = await database.query(
          `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at)
           SELECT $1, $2, $3, $4, $5, $6
            WHERE (SELECT count(*) FROM shares WHERE ${ofRecord} AND user_id <> $4) < $7
           ON CONFLICT (project_id, coll_id, record_id, user_id)
             DO UPDATE SET may = excluded.may, created_at = excluded.created_at
           RETURNING 1`,
          [...values(target), userId, may, createdAt, shareRoutes.maxShares],
        );
        if (row) return { userId, may, createdAt: createdAt.toISOString() };
        const most = `A record can be shared with at most ${shareRoutes.maxShares} users.`;
        throw new ApiError('quota_reached', most);
      }),

    async list(target) {
      await checkOwn(target);
      return database.query<Share>(
        `SELECT user_id AS "userId", may, ${isoTimeSql('created_at')} AS "createdAt" FROM shares
          WHERE ${ofRecord} ORDER BY user_id LIMIT $4`,
        [...values(target), shareRoutes.maxShares],
      );
    },

    async remove(target, userId) {
      const isWithCaller = userId === target.access.userId;
      await (isWithCaller ? isOwn(target) : checkOwn(target));
      const deletion = `DELETE FROM shares WHERE ${ofRecord} AND user_id = $4 RETURNING 1`;
      const [row] = isUuid(userId)
        ? await database.query(deletion, [...values(target), userId])
        : [];
      if (!row) throw new ApiError('not_found', 'It is not shared with this user.');
    },
  };
};
