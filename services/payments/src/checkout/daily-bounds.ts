import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { createWindowCounts } from '@backlot/service';

const dayMs = 24 * 60 * 60 * 1000;
/** A day: from a visitor's address, of all visitors of a project, and of an owner's projects. */
export const testsPerDay = { address: 200, visitors: 1000, owner: 2000 };

export type DailyBounds = ReturnType<typeof createDailyBounds>;

/** Of checkouts that move no money, by the test checkout or by Stripe's test keys: they cost nobody anything. */
export const createDailyBounds = (database: Database, now: () => number) => {
  const windowCounts = createWindowCounts(database, now);
  return {
    /**
     * Counts one. Visitors leave half of the owner's day to the owner and to keys.
     * @throws ApiError too_many_attempts
     */
    async count({ project, caller, ip }: Identity): Promise<void> {
      const { address, visitors, owner } = testsPerDay;
      const isVisitor = caller === 'anonymous' || caller === 'user';
      const bounds = [
        { name: `test checkouts of owner ${project.ownerId}`, max: owner },
        ...(isVisitor
          ? [
              { name: `test checkouts of visitors of project ${project.number}`, max: visitors },
              { name: `test checkouts of visitors from ${ip}`, max: address },
            ]
          : []),
      ];
      if (await windowCounts.take(bounds.map((bound) => ({ ...bound, windowMs: dayMs })))) return;
      throw new ApiError('too_many_attempts', 'Too many test checkouts today.', {
        hint: 'The day ends at midnight UTC. With live keys of Stripe there is no such bound.',
        retryAfterSeconds: Math.ceil((dayMs - (now() % dayMs)) / 1000),
      });
    },
    sweep: () => windowCounts.sweep(),
  };
};
