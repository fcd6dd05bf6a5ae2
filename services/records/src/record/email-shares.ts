import {
  ApiError,
  type EventPayloads,
  type Payload,
  type Share,
  shareRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { RecordTarget } from './refusals.ts';

const batchSize = 500;
/** Whose a share is until somebody has shown that the address is theirs. */
const nobody = '00000000-0000-0000-0000-000000000000';
const { maxShares, maxEmailShares } = shareRoutes;

const ofRecord = 'project_id = $1 AND coll_id = $2 AND record_id = $3';
const recordValues = ({ collection, id }: RecordTarget) => [
  collection.projectNumber,
  collection.id,
  id,
];

/**
 * Shares of a record with e-mail addresses, inside the transaction that has locked it. Nothing that the
 * sharer is told depends on whether somebody has the address: whose it is comes by an event, later.
 */
export const createRecordEmailShares = (
  database: Database,
  outbox: Outbox<EventPayloads>,
  now: () => number,
) => {
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
    async put(target: RecordTarget, email: string, may: Share['may']): Promise<Share> {
      await checkHasRoom(target);
      const createdAt = new Date(now());
      const [row] = await database.query(
        `INSERT INTO shares (project_id, coll_id, record_id, user_id, email, may, shared_by, created_at)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
          WHERE (SELECT count(*) FROM shares WHERE ${ofRecord} AND email <> $5) < $9
         ON CONFLICT (project_id, email, coll_id, record_id) WHERE email <> ''
           DO UPDATE SET may = excluded.may, created_at = excluded.created_at
         RETURNING 1`,
        [
          ...[...recordValues(target), nobody, email, may, target.access.userId, createdAt],
          maxShares,
        ],
      );
      if (!row) {
        const most = `A record can be shared with at most ${maxShares} users and addresses.`;
        throw new ApiError('quota_reached', most);
      }
      const { projectNumber } = target.collection;
      await outbox.append('share.requested', { projectNumber, email });
      return { email, may, createdAt: createdAt.toISOString() };
    },

    /** Whether there was one. */
    async remove(target: RecordTarget, email: string): Promise<boolean> {
      const text = `DELETE FROM shares WHERE ${ofRecord} AND email = $4 RETURNING 1`;
      return (await database.query(text, [...recordValues(target), email])).length > 0;
    },
  };
};

/** What becomes of the shares with an address when somebody shows that it is theirs, or is erased. */
export const createEmailShares = (database: Database) => {
  /** @param statement changes those shares of the project that have `condition` */
  const inBatches = async (statement: string, condition: string, values: unknown[]) => {
    const text = `${statement} WHERE project_id = $1 AND ${condition} AND (coll_id, record_id, email) IN (
       SELECT coll_id, record_id, email FROM shares
        WHERE project_id = $1 AND ${condition} LIMIT ${batchSize}) RETURNING 1`;
    let changed: unknown[];
    do changed = await database.query(text, values);
    while (changed.length === batchSize);
  };

  return {
    /** A share that somebody has taken stays theirs, also when the address becomes another's. */
    take: ({ projectNumber, userId, email }: Payload<'user.verified'>): Promise<void> =>
      inBatches('UPDATE shares SET user_id = $3', `user_id = '${nobody}' AND email = $2`, [
        projectNumber,
        email,
        userId,
      ]),

    /** Anybody can sign up with an address that is not theirs: what waits for it goes with a verified one. */
    async eraseUser(user: Payload<'user.erased'>): Promise<void> {
      const { projectNumber, userId, email, emailVerified } = user;
      const deletion = 'DELETE FROM shares';
      await inBatches(deletion, "user_id = $2 AND email <> ''", [projectNumber, userId]);
      if (emailVerified === true) await inBatches(deletion, 'email = $2', [projectNumber, email]);
    },
  };
};
