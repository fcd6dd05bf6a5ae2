import type { Database } from '@backlot/database';
import { monthEnd, toMonth } from './account/month.ts';

export interface Forecast {
  /** What the estimate follows from. */
  days: number;
  millicreditsPerDay: number;
  /** Null where the credits last until the next ones come, or for ten years. */
  endsAt: string | null;
}

const dayMs = 24 * 60 * 60 * 1000;
const mostDays = 7;
const longestMs = 10 * 365 * dayMs;

/**
 * When an owner's credits end if they go on to be spent as in the last days.
 * @param renewsMonthly whether credits come with each month
 */
export const createForecast =
  (database: Database, now: () => number, renewsMonthly: boolean) =>
  async (ownerId: string, balanceMillicredits: number): Promise<Forecast> => {
    const at = now();
    const [row] = await database.named<{ spent: number; opened_at: Date | null }>(
      'spent-lately',
      `SELECT coalesce((SELECT sum(amount_millicredits)
                          FROM projects JOIN transfers ON project_number = projects.number
                         WHERE projects.owner_id = $1 AND kind = 'debit' AND occurred_at >= $2), 0)::int8 AS spent,
              (SELECT created_at FROM accounts WHERE owner_id = $1) AS opened_at`,
      [ownerId, new Date(at - mostDays * dayMs)],
    );
    const spent = row?.spent ?? 0;
    const ageDays = Math.ceil((at - (row?.opened_at?.getTime() ?? at)) / dayMs);
    const days = Math.min(Math.max(ageDays, 1), mostDays);
    const millicreditsPerDay = Math.round(spent / days);
    const lastsMs =
      spent === 0 ? Number.POSITIVE_INFINITY : (balanceMillicredits / spent) * days * dayMs;
    const endMs = at + lastsMs;
    const lasts = lastsMs > longestMs || (renewsMonthly && endMs >= monthEnd(toMonth(at)));
    return { days, millicreditsPerDay, endsAt: lasts ? null : new Date(endMs).toISOString() };
  };
