import {
  ApiError,
  type EventPayloads,
  type Payload,
  type Share,
  shareRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { RecordTarget } from './refusals.ts';
import { endSharesSql, ofRecord, recordValues, type ShareRows } from './share-rows.ts';

const batchSize = 500;
/** Whose a share is until somebody has shown that the address is theirs. */
const nobody = '00000000-0000-0000-0000-000000000000';
const { maxShares, maxEmailShares } = shareRoutes;

interface EmailShareOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  rows: ShareRows;
  now: () => number;
}

/**
 * Shares of a record with e-mail addresses, inside the transaction that has locked it. Nothing that the
 * sharer is told depends on whether somebody has the address: whose it is comes by an event, later.
 */
export const createRecordEmailShares = ({ database, outbox, rows, now }: EmailShareOptions) => {
  const checkHasRoom = async ({ collection, access }: RecordTarget): Promise<void> => {
    const project = collection.projectNumber;
    const isFull = async (most: number, condition: string, ...values: unknown[]) => {
      const text = `SELECT 1 FROM shares WHERE project_id = $1 AND email <> ''${condition} OFFSET ${most - 1} LIMIT 1`;
      return (await database.query(text, [project, ...values])).length > 0;
    };
    const refuse = (message: string) => {
      throw new ApiError('quota_reached', message, {
        hint: 'End those that are needed no longer, or share with the ids of users.',
      });
    };
    if (access.userId && (await isFull(maxEmailShares.user, ' AND shared_by = $2', access.userId)))
      refuse(`A user can share records with at most ${maxEmailShares.user} e-mail addresses.`);
    if (await isFull(maxEmailShares.project, ''))
      refuse(`A project has at most ${maxEmailShares.project} shares with e-mail addresses.`);
  };

  return {
    /** @throws ApiError quota_reached */
    async put(
      target: RecordTarget,
      { email, may }: { email: string; may: Share['may'] },
      roomBytes: number | undefined,
    ): Promise<Share> {
      await checkHasRoom(target);
      const createdAt = new Date(now());
      const insert = `INSERT INTO shares (project_id, coll_id, record_id, user_id, email, may, shared_by, created_at)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
          WHERE (SELECT count(*) FROM shares WHERE ${ofRecord} AND email <> $5) < $9
         ON CONFLICT (project_id, email, coll_id, record_id) WHERE email <> ''
           DO UPDATE SET may = excluded.may, created_at = excluded.created_at`;
      const values = [
        ...[...recordValues(target), nobody, email, may, target.access.userId, createdAt],
        maxShares,
      ];
      await rows.put(target, [insert, values], 'email = $5', roomBytes);
      const { projectNumber } = target.collection;
      await outbox.append('share.requested', { projectNumber, email });
      return { email, may, createdAt: createdAt.toISOString() };
    },

    /** Whether there was one. */
    remove: (target: RecordTarget, email: string): Promise<boolean> =>
      rows.remove(target, 'email = $4', email),
  };
};

/** What becomes of the shares with an address when somebody shows that it is theirs, or is erased. */
export const createEmailShares = (database: Database) => {
  /** @param toStatement writes what changes the shares of the project that have `condition` */
  const inBatches = async (
    toStatement: (some: string) => string,
    condition: string,
    values: unknown[],
  ) => {
    const text = toStatement(`project_id = $1 AND ${condition} AND (coll_id, record_id, email) IN (
       SELECT coll_id, record_id, email FROM shares
        WHERE project_id = $1 AND ${condition} LIMIT ${batchSize})`);
    let changed: unknown[];
    do changed = await database.query(text, values);
    while (changed.length === batchSize);
  };

  return {
    /** A share that somebody has taken stays theirs, also when the address becomes another's. */
    take: ({ projectNumber, userId, email }: Payload<'user.verified'>): Promise<void> =>
      inBatches(
        (some) => `UPDATE shares SET user_id = $3 WHERE ${some} RETURNING 1`,
        `user_id = '${nobody}' AND email = $2`,
        [projectNumber, email, userId],
      ),

    /** Anybody can sign up with an address that is not theirs: what waits for it goes with a verified one. */
    async eraseUser(user: Payload<'user.erased'>): Promise<void> {
      const { projectNumber, userId, email, emailVerified } = user;
      await inBatches(endSharesSql, "user_id = $2 AND email <> ''", [projectNumber, userId]);
      if (emailVerified === true)
        await inBatches(endSharesSql, 'email = $2', [projectNumber, email]);
    },
  };
};
