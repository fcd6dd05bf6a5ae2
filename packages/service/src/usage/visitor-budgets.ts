import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { type Database, deleteExpired, type workLeft } from '@backlot/database';
import type { Identity } from '@backlot/identity';

/** What one call has reserved of its visitor's day. */
export interface VisitorReservation {
  /** The most that the call may use. */
  amount: number;
  /** Returns what was not used; called once. */
  settle(used: number): Promise<void>;
}

/** How much each visitor of a project may use a day (UTC). */
export interface VisitorBudgets {
  /**
   * Reserves what is wanted, or what is left today to the visitor and their address if it is enough for a
   * call; exact among parallel calls. Undefined where no budget applies. After a crash the reservation
   * stays used.
   * @throws ApiError visitor_budget
   */
  reserve(
    identity: Identity,
    amounts: { wanted: number; least: number },
  ): Promise<VisitorReservation | undefined>;
  /** Deletes the days before yesterday. */
  sweep(): Promise<typeof workLeft | undefined>;
}

/** Accounts are free, so an address has a budget too: that of several visitors, because homes share one. */
const visitorsPerAddress = 5;

const dayMs = 24 * 60 * 60 * 1000;
const retentionDays = 2;
const toUtcDay = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

const hash = (name: string) => createHash('sha256').update(name).digest();

/** The gateway has cut IPv6 addresses to their /64. */
const visitorHashes = ({ userId, ip }: Identity) => ({
  visitor: hash(userId === null ? `ip ${ip}` : `user ${userId}`),
  address: hash(`address ${ip}`),
});

export const budgetUsedUp = (nowMs: number) =>
  new ApiError('visitor_budget', 'You have used what this app allows a visitor for today.', {
    hint: 'The day ends at midnight UTC.',
    retryAfterSeconds: Math.ceil((dayMs - (nowMs % dayMs)) / 1000),
  });

export interface VisitorBudgetRules {
  /** The project's setting that states the budget. */
  setting: 'aiPerVisitorPerDay' | 'emailPerVisitorPerDay';
  /** Where the owner has set none; without it no budget applies. */
  default?: number;
  /** Of the table `visitor_days`, which each schema with visitor budgets has. */
  column: 'millicredits' | 'recipients';
  /** What one of the setting is in this column. */
  unitsPerBudget: number;
}

export const createVisitorBudgets = (
  database: Database,
  now: () => number,
  { setting, default: defaultBudget, column, unitsPerBudget }: VisitorBudgetRules,
): VisitorBudgets => {
  /** Of visitors alone: owners, keys and the operator have none. */
  const dailyBudget = ({ caller, project: { settings } }: Identity): number | undefined => {
    const budget = settings[setting] ?? defaultBudget;
    if (typeof budget !== 'number' || !['anonymous', 'user'].includes(caller)) return undefined;
    return budget * unitsPerBudget;
  };

  /** To visitor and address, locked in one order against deadlocks. */
  const add = (key: readonly unknown[], amount: number) =>
    database.named(
      'add-visitor-day',
      `WITH held AS (
         SELECT visitor FROM visitor_days
          WHERE project_number = $1 AND visitor = ANY($2) AND day = $3 ORDER BY visitor FOR UPDATE)
       UPDATE visitor_days SET ${column} = ${column} + $4 FROM held
        WHERE project_number = $1 AND visitor_days.visitor = held.visitor AND day = $3`,
      [...key, amount],
    );

  /** What both have used; their rows stay locked until the transaction ends. */
  const lock = (key: readonly unknown[]) =>
    database.named<{ visitor: Buffer; used: number }>(
      'hold-visitor-day',
      `INSERT INTO visitor_days AS kept (project_number, visitor, day, ${column})
       SELECT $1, visitor, $3, 0 FROM unnest($2::bytea[]) AS visitor ORDER BY visitor
       ON CONFLICT (project_number, visitor, day) DO UPDATE SET ${column} = kept.${column}
       RETURNING visitor, ${column} AS used`,
      key,
    );

  return {
    async reserve(identity, { wanted, least }) {
      const budget = dailyBudget(identity);
      if (budget === undefined) return undefined;
      const at = now();
      if (budget < least) throw budgetUsedUp(at);
      const { visitor, address } = visitorHashes(identity);
      const key = [identity.project.number, [visitor, address], toUtcDay(at)];
      const amount = await database.transaction(async () => {
        const left = (await lock(key)).map((row) =>
          row.visitor.equals(visitor) ? budget - row.used : budget * visitorsPerAddress - row.used,
        );
        if (Math.min(...left) < least) throw budgetUsedUp(at);
        const reserved = Math.min(wanted, ...left);
        await add(key, reserved);
        return reserved;
      });
      return {
        amount,
        async settle(used) {
          const left = amount - Math.min(used, amount);
          if (left > 0) await add(key, -left);
        },
      };
    },
    async sweep() {
      const before = toUtcDay(now() - retentionDays * dayMs);
      return await deleteExpired(database, [
        { table: 'visitor_days', condition: 'day < $1', values: [before] },
      ]);
    },
  };
};
