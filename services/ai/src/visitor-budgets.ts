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
   * Reserves so much or what is left of the visitor's day and their address's, if that is a credit at
   * least; exact among parallel calls. Undefined where no budget is set, or none holds for this caller.
   * A crash before `settle` costs both what was reserved.
   * @throws ApiError visitor_budget
   */
  reserve(identity: Identity, wantMillicredits: number): Promise<Allowance | undefined>;
  /** Deletes the days before yesterday, at most 10,000 rows. */
  sweep(): Promise<void>;
}

/**
 * Accounts are free to make, so an address has a budget too: of so many visitors, because homes and
 * offices share one.
 */
const visitorsPerAddress = 5;

const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 2;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

const hashOf = (name: string) => createHash('sha256').update(name).digest();

/** Whom a call counts for. The gateway has cut IPv6 addresses to their /64. */
const countedFor = ({ userId, ip }: Identity) => ({
  visitor: hashOf(userId === null ? `ip ${ip}` : `user ${userId}`),
  address: hashOf(`address ${ip}`),
});

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

export const createVisitorBudgets = (database: Database, now: () => number): VisitorBudgets => {
  /** Of a visitor and their address; always locked in one order, so that no two calls block each other. */
  const add = (place: readonly unknown[], millicredits: number) =>
    database.named(
      'ai_add_visitor',
      `WITH held AS (
         SELECT visitor FROM visitor_days
          WHERE project_number = $1 AND visitor = ANY($2) AND day = $3 ORDER BY visitor FOR UPDATE)
       UPDATE visitor_days SET millicredits = millicredits + $4 FROM held
        WHERE project_number = $1 AND visitor_days.visitor = held.visitor AND day = $3`,
      [...place, millicredits],
    );

  /** What each has used; the rows stay locked until the transaction ends. */
  const hold = (place: readonly unknown[]) =>
    database.named<{ visitor: Buffer; millicredits: number }>(
      'ai_hold_visitor',
      `INSERT INTO visitor_days AS kept (project_number, visitor, day, millicredits)
       SELECT $1, visitor, $3, 0 FROM unnest($2::bytea[]) AS visitor ORDER BY visitor
       ON CONFLICT (project_number, visitor, day) DO UPDATE SET millicredits = kept.millicredits
       RETURNING visitor, millicredits`,
      place,
    );

  return {
    async reserve(identity, wantMillicredits) {
      const budget = budgetOf(identity);
      if (budget === undefined) return undefined;
      const at = now();
      if (budget < creditMillicredits) throw usedUp(at);
      const { visitor, address } = countedFor(identity);
      const place = [identity.project.number, [visitor, address], dayOf(at)];
      const millicredits = await database.transaction(async () => {
        const left = (await hold(place)).map((row) =>
          row.visitor.equals(visitor)
            ? budget - row.millicredits
            : budget * visitorsPerAddress - row.millicredits,
        );
        if (Math.min(...left) < creditMillicredits) throw usedUp(at);
        const reserved = Math.min(wantMillicredits, ...left);
        await add(place, reserved);
        return reserved;
      });
      return {
        millicredits,
        async settle(usedMillicredits) {
          const left = millicredits - Math.min(usedMillicredits, millicredits);
          if (left > 0) await add(place, -left);
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
  };
};
