import type { Payload } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';

const batchSize = 2000;

/** Deletes everything of the project, in short statements; may be repeated. */
export const eraseProject = async (
  database: Database,
  { projectNumber }: Payload<'project.erased'>,
): Promise<void> => {
  const queries = createQueries<Tables>(database);
  const eraseRows = (table: 'payments' | 'test_sessions' | 'products') =>
    queries
      .deleteFrom(table)
      .where('project_number', '=', projectNumber)
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom(table).select('id').where('project_number', '=', projectNumber).limit(batchSize),
      )
      .executeTakeFirst();
  const eraseEvents = () =>
    queries
      .deleteFrom('heard_events')
      .where('project_number', '=', projectNumber)
      .where('event_id', 'in', ({ selectFrom }) =>
        selectFrom('heard_events')
          .select('event_id')
          .where('project_number', '=', projectNumber)
          .limit(batchSize),
      )
      .executeTakeFirst();

  for (const table of ['secrets', 'closed_checkouts', 'on_paid_rules'] as const)
    await queries.deleteFrom(table).where('project_number', '=', projectNumber).execute();
  for (const eraseBatch of [
    () => eraseRows('payments'),
    () => eraseRows('test_sessions'),
    () => eraseRows('products'),
    eraseEvents,
  ])
    while ((await eraseBatch()).numDeletedRows === BigInt(batchSize));
};

/** Payments stay, without their user. */
export const eraseUser = async (
  database: Database,
  { projectNumber, userId }: Payload<'user.erased'>,
): Promise<void> => {
  await createQueries<Tables>(database)
    .updateTable('payments')
    .set({ user_id: null })
    .where('project_number', '=', projectNumber)
    .where('user_id', '=', userId)
    .execute();
};

/** Payments of one user are another one's. May be repeated. */
export const mergeUser = async (
  database: Database,
  { projectNumber, guestId, userId }: Payload<'user.merged'>,
): Promise<void> => {
  await createQueries<Tables>(database)
    .updateTable('payments')
    .set({ user_id: userId })
    .where('project_number', '=', projectNumber)
    .where('user_id', '=', guestId)
    .execute();
};
