import { createHash } from 'node:crypto';
import { ApiError, creditMillicredits } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';

/** What one call has reserved of its visitor's day. */
export interface Allowance {
  /** The call may not use more. */
  millicredits: number;
  /** Gives back what was not used; called once. */
  settle(usedMillicredits: number): Promise<void>;
}

/** How much each visitor may use a day (UTC), where the owner has set `aiPerVisitorPerDay`. */
export interface VisitorBudgets {
  /**
   * Reserves so much or what is left of the day, if that is a credit at least; exact among parallel
   * calls. Undefined where no budget is set, or none holds for this caller. A crash before `settle`
   * costs the visitor what was reserved.
   * @throws ApiError visitor_budget
   */
  reserve(identity: Identity, wantMillicredits: number): Promise<Allowance | undefined>;
  /** Deletes the days before yesterday, at most 10,000 rows. */
  sweep(): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 2;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

const visitorOf = ({ userId, ip }: Identity) =>
  createHash('sha256')
    .update(userId === null ? `ip ${ip}` : `user ${userId}`)
    .digest();

/** Milli-credits; owners, keys and the operator are no visitors. */
const budgetOf = ({ caller, project: { settings } }: Identity): number | undefined => {
  const { aiPerVisitorPerDay: credits } = settings;
  if (typeof credits !== 'number' || !['anonymous', 'user'].includes(caller)) return undefined;
  return credits * creditMillicredits;
};

export const usedUp = (nowMs: number) =>
  new ApiError('visitor_budget', 'You have used what this app allows a visitor for today.', {
    hint: 'The day ends at midnight UTC.',
    retryAfterSeconds: Math.ceil((dayMs - (nowMs % dayMs)) / 1000),
  });

export const createVisitorBudgets = (database: Database, now: () => number): VisitorBudgets => ({
  async reserve(identity, wantMillicredits) {
    const budget = budgetOf(identity);
    if (budget === undefined) return undefined;
    const at = now();
    if (budget < creditMillicredits) throw usedUp(at);
    const place = [identity.project.number, visitorOf(identity), dayOf(at)];
    const [row] = await database.named<{ millicredits: number }>(
      'ai_reserve_visitor',
      `INSERT INTO visitor_days AS kept (project_number, visitor, day, millicredits)
       VALUES ($1, $2, $3, least($4::bigint, $5::bigint))
       ON CONFLICT (project_number, visitor, day) DO UPDATE
         SET millicredits = kept.millicredits + least($4::bigint, $5::bigint - kept.millicredits)
         WHERE $5::bigint - kept.millicredits >= $6
       RETURNING new.millicredits - coalesce(old.millicredits, 0) AS millicredits`,
      [...place, wantMillicredits, budget, creditMillicredits],
    );
    if (!row) throw usedUp(at);
    const { millicredits } = row;
    return {
      millicredits,
      async settle(usedMillicredits) {
        const left = millicredits - Math.min(usedMillicredits, millicredits);
        if (left === 0) return;
        await database.named(
          'ai_settle_visitor',
          `UPDATE visitor_days SET millicredits = millicredits - $4
            WHERE project_number = $1 AND visitor = $2 AND day = $3`,
          [...place, left],
        );
      },
    };
  },
  async sweep() {
    await database.query(
      `DELETE FROM visitor_days WHERE (project_number, visitor, day) IN (
         SELECT project_number, visitor, day FROM visitor_days WHERE day < $1 LIMIT 10000)`,
      [dayOf(now() - keptDays * dayMs)],
    );
  },
});
