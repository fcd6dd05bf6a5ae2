import { ApiError, type Payload } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { ExpressionBuilder } from 'kysely';
import type { DB as Tables } from '../tables.ts';

/** Whether the key with which an invitation was made, if any, has not been revoked. */
export const hasLiveKey = (project: number) => (eb: ExpressionBuilder<Tables, 'group_invites'>) =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('ended_keys')
        .select('ended_keys.key_id')
        .where('ended_keys.project_number', '=', project)
        .whereRef('ended_keys.key_id', '=', 'group_invites.invited_with'),
    ),
  );

/** Which secret keys were revoked. A call under way with one may come later than that is known. */
export const createEndedKeys = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    async end({ projectNumber, keyId }: Payload<'key.revoked'>): Promise<void> {
      // Older versions do not say which key it was.
      if (projectNumber === undefined || keyId === undefined) return;
      await queries
        .insertInto('ended_keys')
        .values({ project_number: projectNumber, key_id: keyId, ended_at: new Date(now()) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    /** @throws ApiError invalid_token */
    async check({ project, keyId }: Identity): Promise<void> {
      if (keyId === null) return;
      const ended = await queries
        .selectFrom('ended_keys')
        .select('key_id')
        .where('project_number', '=', project.number)
        .where('key_id', '=', keyId)
        .executeTakeFirst();
      if (ended) throw new ApiError('invalid_token', 'This key has been revoked.');
    },
  };
};

export type EndedKeys = ReturnType<typeof createEndedKeys>;
