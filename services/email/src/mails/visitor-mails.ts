import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { createVisitorBudgets } from '@backlot/service';

/** Recipients a day where the owner has set no `emailPerVisitorPerDay`. */
const defaultBudget = 100;

export type VisitorMails = ReturnType<typeof createVisitorMails>;

/** To how many recipients each visitor may send a day. */
export const createVisitorMails = (database: Database, now: () => number) => {
  const budgets = createVisitorBudgets(database, now, {
    setting: 'emailPerVisitorPerDay',
    default: defaultBudget,
    column: 'recipients',
    unitsPerBudget: 1,
  });
  return {
    /**
     * Counts these recipients, also where the surrounding transaction is undone: asking who may get mail
     * is not free. Returns what takes them back.
     * @throws ApiError visitor_budget
     */
    async count(identity: Identity, recipients: number): Promise<() => Promise<void>> {
      const amounts = { wanted: recipients, least: recipients };
      const reservation = await database.detached(() => budgets.reserve(identity, amounts));
      return () => database.detached(async () => reservation?.settle(0));
    },
    sweep: () => budgets.sweep(),
  };
};
