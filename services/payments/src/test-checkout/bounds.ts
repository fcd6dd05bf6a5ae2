import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { createWindowCounts } from '@backlot/service';

const dayMs = 24 * 60 * 60 * 1000;
/** Test checkouts a day: of a visitor's address, of all visitors of a project, and of an owner's projects. */
export const testCheckoutsPerDay = { address: 200, visitors: 1000, owner: 2000 };

export type TestCheckoutBounds = ReturnType<typeof createTestCheckoutBounds>;

/** Play money is free, and so are its rows. */
export const createTestCheckoutBounds = (database: Database, now: () => number) => {
  const windowCounts = createWindowCounts(database, now);
  return {
    /**
     * Counts one. Visitors leave half of the owner's day to the owner and to keys.
     * @throws ApiError too_many_attempts
     */
    async count({ project, caller, ip }: Identity): Promise<void> {
      const { address, visitors, owner } = testCheckoutsPerDay;
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
        hint: 'The day ends at midnight UTC. With Stripe keys of the project there is no such bound.',
        retryAfterSeconds: Math.ceil((dayMs - (now() % dayMs)) / 1000),
      });
    },
    sweep: () => windowCounts.sweep(),
  };
};
