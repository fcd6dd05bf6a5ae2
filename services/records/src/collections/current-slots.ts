import { ApiError } from '@backlot/contract';
import { type Database, isDeadlock } from '@backlot/database';
import { type Access, accessTo } from './access.ts';
import type { Collection, Collections } from './collections.ts';

/** A statement was made for slots that the collection no longer has. */
export class StaleSlots extends Error {}

/** @throws StaleSlots where the slots are not those that this process knows */
export const checkEpoch = async (
  database: Database,
  { projectNumber, id, epoch }: Collection,
): Promise<void> => {
  const [row] = await database.read(
    'records_epoch',
    'SELECT epoch FROM collections WHERE project_id = $1 AND coll_id = $2',
    [projectNumber, id],
  );
  if (Number(row?.[0]) !== epoch) throw new StaleSlots();
};

/** Slots change a few times a day, so that a second change within one call is rare. */
const maxTries = 5;

/**
 * Runs `work`, and again with the collection as it is now where that threw StaleSlots, or where PostgreSQL chose it to
 * end a deadlock: two changes that swap values of a unique field wait for each other.
 */
export const onCurrentSlots = async <Target extends { collection: Collection; access?: Access }, T>(
  refresh: Collections['refresh'],
  target: Target,
  work: (target: Target) => Promise<T>,
): Promise<T> => {
  let current = target;
  let cause: unknown;
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      return await work(current);
    } catch (error) {
      cause = error;
      if (error instanceof StaleSlots) {
        const collection = await refresh(current.collection);
        const { access } = current;
        current = { ...current, collection };
        if (access) current.access = accessTo(access, collection.access);
      } else if (!isDeadlock(error)) throw error;
    }
  }
  throw new ApiError('conflict', 'This collection changes too often just now. Try again.', {
    cause,
  });
};
