import {
  ApiError,
  type EventPayloads,
  isUuid,
  normalizeEmail,
  type Share,
  shareRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { checkRead } from '../../collections/access.ts';
import { recordNotFound } from '../../collections/forbidden.ts';
import { shareBytes } from '../../collections/stored/side-sql.ts';
import { rowPolicySql } from '../../collections/terms/policy-sql.ts';
import { heldPolicy } from '../../collections/terms/terms.ts';
import { inCollection, isoTimeSql, startParameters } from '../../sql.ts';
import type { Quota } from '../quota/quota.ts';
import type { RecordTarget } from '../refusals.ts';
import { createRecordEmailShares } from './email-shares.ts';
import { maySeeNoMore } from './given-shares.ts';
import { createShareRows, ofRecord, recordValues } from './share-rows.ts';

/** With a user, or with an address. */
export type NewShare = Pick<Share, 'userId' | 'email' | 'may'>;

interface ShareOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  quota: Quota;
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

export const createShares = ({ database, outbox, quota, now }: ShareOptions): Shares => {
  const rows = createShareRows(database, quota);
  const emailShares = createRecordEmailShares({ database, outbox, rows, now });

  /** Whether it is the caller's, and by the rules even without a share. @param lock SQL that keeps others from sharing it meanwhile */
  const findRights = async ({ collection, access, id }: RecordTarget, lock = '') => {
    checkRead(access);
    if (!isUuid(id)) throw recordNotFound();
    const parameters = startParameters(collection, id);
    const { read } = access.rights;
    const readable = rowPolicySql(read, access, parameters) ?? 'true';
    const held = rowPolicySql(heldPolicy(read), access, parameters) ?? 'true';
    const [row] = await database.query<{
      owner_id: string | null;
      readable: boolean | null;
      held: boolean | null;
    }>(
      `SELECT owner_id, ${readable} AS readable, ${held} AS held FROM records
        WHERE ${inCollection} AND id = $3 ${lock}`,
      parameters.values,
    );
    if (!row?.readable) throw recordNotFound();
    const isOwn = access.userId === null || row.owner_id === access.userId;
    return { isOwn, isHeld: row.held === true };
  };

  const checkOwn = async (target: RecordTarget, lock?: string) => {
    const { isOwn, isHeld } = await findRights(target, lock);
    if (isOwn) return isHeld;
    throw new ApiError('forbidden', 'Only its owner decides with whom a record is shared.');
  };

  const put = (
    target: RecordTarget,
    { userId, email, may }: NewShare,
    roomBytes: number | undefined,
  ): Promise<Share> =>
    database.transaction(async () => {
      const { collection, access } = target;
      if (!(await checkOwn(target, 'FOR NO KEY UPDATE')))
        throw new ApiError(
          'forbidden',
          'You have this record by a share, which you can not pass on.',
        );
      if (!access.compiled.uses.shared) {
        throw new ApiError('conflict', 'The rules of this collection know no shares.', {
          hint: 'The project’s owner adds "shared" to its rules, as in {"read":["owner","shared"],"create":["users"],"change":["owner","shared"]}.',
        });
      }
      if (access.userId !== null && maySeeNoMore(access)) {
        const { projectNumber } = collection;
        await outbox.append('share.given', { projectNumber, userId: access.userId });
      }
      if (email !== undefined) return emailShares.put(target, { email, may }, roomBytes);
      const createdAt = new Date(now());
      const insert = `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at, shared_by)
         SELECT $1, $2, $3, $4, $5, $6, $8
          WHERE (SELECT count(*) FROM shares WHERE ${ofRecord} AND (user_id, email) <> ($4, '')) < $7
         ON CONFLICT (project_id, coll_id, record_id, user_id, email)
           DO UPDATE SET may = excluded.may, created_at = excluded.created_at, shared_by = excluded.shared_by`;
      const values = [
        ...recordValues(target),
        userId,
        may,
        createdAt,
        shareRoutes.maxShares,
        access.userId,
      ];
      await rows.put(target, [insert, values], `user_id = $4 AND email = ''`, roomBytes);
      return { userId, may, createdAt: createdAt.toISOString() };
    });

  const list = async (target: RecordTarget): Promise<Share[]> => {
    await checkOwn(target);
    const found = await database.query<Required<Share>>(
      `SELECT user_id AS "userId", email, may, ${isoTimeSql('created_at')} AS "createdAt" FROM shares
        WHERE ${ofRecord} ORDER BY email, user_id LIMIT $4`,
      [...recordValues(target), shareRoutes.maxShares],
    );
    return found.map(({ userId, email, ...share }) => ({
      ...(email ? { email } : { userId }),
      ...share,
    }));
  };

  const removeShare = async (target: RecordTarget, who: string, isWithCaller: boolean) => {
    if (who.includes('@')) return emailShares.remove(target, normalizeEmail(who));
    if (!isUuid(who)) return false;
    // What a user has by their address is theirs alone to end by their id.
    const condition = isWithCaller ? '' : " AND email = ''";
    return rows.remove(target, `user_id = $4${condition}`, who);
  };

  const remove = async (target: RecordTarget, who: string): Promise<void> => {
    const isWithCaller = who === target.access.userId;
    await (isWithCaller ? findRights(target) : checkOwn(target));
    if (await removeShare(target, who, isWithCaller)) return;
    throw new ApiError('not_found', 'It is not shared with this user.');
  };

  return {
    put: (target, share) =>
      quota.change(target.project, shareBytes(share.email), (roomBytes) =>
        put(target, share, roomBytes),
      ),
    list,
    remove,
  };
};
