import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import type { Quota } from './quota.ts';
import type { Removals } from './removals.ts';

const batchSize = 1000;

interface MergedUsersDeps {
  database: Database;
  quota: Pick<Quota, 'lock'>;
  removals: Pick<Removals, 'eraseUser'>;
  now: () => number;
}

/** Gives the files of one user, and the uploads under way, to another one. */
export const createMergedUsers = ({ database, quota, removals, now }: MergedUsersDeps) => {
  const queries = createQueries<Tables>(database);

  /** From then on uploads of theirs that end make files of the heir's. False where that account is erased. */
  const note = (projectNumber: number, userId: string, heirId: string): Promise<boolean> =>
    database.transaction(async () => {
      await quota.lock(projectNumber);
      const erased = await queries
        .selectFrom('erased_users')
        .select('user_id')
        .where('project_number', '=', projectNumber)
        .where('user_id', '=', heirId)
        .executeTakeFirst();
      if (erased) return false;
      await queries
        .insertInto('erased_users')
        .values({
          project_number: projectNumber,
          user_id: userId,
          heir_id: heirId,
          erased_at: new Date(now()),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return true;
    });

  const giveBatch = (
    table: 'files' | 'direct_uploads' | 'resumable_uploads',
    projectNumber: number,
    [from, to]: readonly [string, string],
  ) =>
    queries
      .updateTable(table)
      .set({ owner_id: to })
      .where('project_number', '=', projectNumber)
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom(table)
          .select('id')
          .where('project_number', '=', projectNumber)
          .where('owner_id', '=', from)
          .limit(batchSize),
      )
      .executeTakeFirst();

  return {
    /** May be repeated. */
    async merge(projectNumber: number, userId: string, heirId: string): Promise<void> {
      if (!(await note(projectNumber, userId, heirId)))
        return removals.eraseUser(projectNumber, userId);
      for (const table of ['files', 'direct_uploads', 'resumable_uploads'] as const)
        while (
          (await giveBatch(table, projectNumber, [userId, heirId])).numUpdatedRows ===
          BigInt(batchSize)
        );
    },
  };
};
