import type { BudgetRefusal, EventPayloads } from '@backlot/contract';
import { type Database, deleteExpired, type Outbox, type workLeft } from '@backlot/database';

export interface BudgetNoticesDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 2;
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

/** Which owners were told today that a budget has refused calls. */
export const createBudgetNotices = ({ database, outbox, now }: BudgetNoticesDeps) => ({
  /** Publishes the first refusal of an owner's day and kind; all others change nothing. */
  note: (
    ownerId: string,
    { projectId, projectNumber, kind, address, route }: BudgetRefusal,
  ): Promise<void> =>
    database.transaction(async () => {
      const [project] = await database.query<{ name: string }>(
        `WITH project AS (
           SELECT name FROM projects WHERE number = $1 AND id = $2 AND owner_id = $3
         ), noted AS (
           INSERT INTO budget_notices (owner_id, kind, day) SELECT $3, $4, $5 FROM project
           ON CONFLICT (owner_id, kind, day) DO NOTHING RETURNING kind
         )
         SELECT name FROM project, noted`,
        [projectNumber, projectId, ownerId, kind, utcDay(now())],
      );
      if (!project) return;
      await outbox.append('budget.reached', {
        projectId,
        projectNumber,
        projectName: project.name,
        ownerId,
        kind,
        address,
        route,
      });
    }),

  async sweep(): Promise<typeof workLeft | undefined> {
    return await deleteExpired(database, [
      {
        table: 'budget_notices',
        condition: 'day < $1',
        values: [utcDay(now() - keptDays * dayMs)],
      },
    ]);
  },
});
