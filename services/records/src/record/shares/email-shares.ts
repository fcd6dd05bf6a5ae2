import {
  ApiError,
  type EventPayloads,
  nobody,
  type Payload,
  type Share,
  shareRoutes,
  type UserDirectory,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { logSharesSql } from '../change/log-sql.ts';
import type { RecordTarget } from '../refusals.ts';
import { endSharesSql, ofRecord, recordValues, type ShareRows } from './share-rows.ts';

const batchSize = 500;
/** An address that changes hands more often while its shares are written is tried again later. */
const maxRounds = 5;
const { maxShares, maxEmailShares } = shareRoutes;

interface EmailShareOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  rows: ShareRows;
  now: () => number;
}

/**
 * Inside the transaction that has locked the record. Nothing that the sharer is told depends on whether somebody has
 * the address: whose it is comes by an event, later.
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
    /**
     * One that allows more than before is nobody's until it is known who has the address now.
     * @throws ApiError quota_reached
     */
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
           DO UPDATE SET may = excluded.may, created_at = excluded.created_at, shared_by = excluded.shared_by, user_id = CASE
             WHEN shares.may = 'read' AND excluded.may = 'change' THEN excluded.user_id ELSE shares.user_id END`;
      const values = [
        ...recordValues(target),
        nobody,
        email,
        may,
        target.access.userId,
        createdAt,
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

/** What becomes of the shares with an address when it becomes somebody's, or nobody's. */
export const createEmailShares = (database: Database, users: Pick<UserDirectory, 'findHolder'>) => {
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
  const giveSql = (some: string) =>
    `WITH given AS (UPDATE shares SET user_id = $3 WHERE ${some}
       RETURNING new.coll_id, new.record_id, old.user_id AS before, new.user_id AS after),
     lost AS (SELECT coll_id, record_id, before AS user_id FROM given),
     gained AS (SELECT coll_id, record_id, after AS user_id FROM given),
     logged_lost AS (${logSharesSql('lost', true)}),
     logged_gained AS (${logSharesSql('gained', false)})
     SELECT FROM given`;

  /** Gives them to who has the address now: events overtake each other, and are only a reason to ask. */
  const settle = async (projectNumber: number, email: string): Promise<void> => {
    let written: string | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const holder = (await users.findHolder(projectNumber, email)) ?? nobody;
      if (holder === written) return;
      const isOthers = "email = $2 AND email <> '' AND user_id <> $3";
      await inBatches(giveSql, isOthers, [projectNumber, email, holder]);
      written = holder;
    }
    throw new Error('The address changes hands faster than its shares.');
  };

  return {
    take: ({ projectNumber, email }: Payload<'user.verified'>): Promise<void> =>
      settle(projectNumber, email),

    /** Anybody can sign up with an address that is not theirs: what waits for it goes with a verified one. */
    async eraseUser(user: Payload<'user.erased'>): Promise<void> {
      const { projectNumber, userId, email, emailVerified } = user;
      const isErased = emailVerified === true && email !== null;
      if (isErased && (await users.findHolder(projectNumber, email)) === null) {
        const isTheirs = "email = $2 AND email <> '' AND user_id = ANY ($3::uuid[])";
        await inBatches(endSharesSql, isTheirs, [projectNumber, email, [userId, nobody]]);
      }
      const isLeft = "user_id = $2 AND email <> ''";
      await inBatches(giveSql, isLeft, [projectNumber, userId, nobody]);
      if (isErased) await settle(projectNumber, email);
    },
  };
};
