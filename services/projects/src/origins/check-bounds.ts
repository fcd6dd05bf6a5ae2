import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { type Database, deleteExpired } from '@backlot/database';
import type { Identity } from '@backlot/identity';

const windowMs = 60 * 60 * 1000;
const perOwner = 30;
const perAddress = 60;

/** Undoes what a refused check has counted. */
class BoundReached extends Error {
  override readonly name = 'BoundReached';
}

export type CheckBounds = ReturnType<typeof createCheckBounds>;

/** Checks of origins that an owner, and a network address, may ask for in an hour; exact in parallel. */
export const createCheckBounds = (database: Database, now: () => number) => {
  const take = async (name: string, max: number, endsAt: Date) => {
    const counted = await database.query(
      `INSERT INTO origin_checks AS kept (name_hash, ends_at, count) VALUES ($1, $2, 1)
       ON CONFLICT (name_hash, ends_at) DO UPDATE SET count = kept.count + 1 WHERE kept.count < $3
       RETURNING true`,
      [createHash('sha256').update(name).digest(), endsAt, max],
    );
    if (counted.length === 0) throw new BoundReached();
  };
  return {
    /** @throws ApiError too_many_attempts */
    async count({ project, ip }: Identity): Promise<void> {
      const endsAt = new Date((Math.floor(now() / windowMs) + 1) * windowMs);
      const counts = async () => {
        await take(`owner ${project.ownerId}`, perOwner, endsAt);
        await take(`address ${ip}`, perAddress, endsAt);
      };
      try {
        await database.transaction(counts);
      } catch (error) {
        if (!(error instanceof BoundReached)) throw error;
        throw new ApiError('too_many_attempts', 'Too many checks of origins. Try again later.', {
          retryAfterSeconds: Math.ceil((endsAt.getTime() - now()) / 1000),
        });
      }
    },

    sweep: () =>
      deleteExpired(database, [
        { table: 'origin_checks', condition: 'ends_at < $1', values: [new Date(now())] },
      ]),
  };
};
