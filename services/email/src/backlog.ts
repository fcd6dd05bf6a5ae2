import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';

export interface Backlog {
  /** Takes a place among the mails of the project that may wait; false where there is none. */
  take(projectNumber: number): Promise<boolean>;
}

const recountMs = 1000;
const remembered = 10_000;

/**
 * Counts a project's waiting mails at most once a second, and when the places of that count are taken:
 * counting in each send would make it slower the more wait. Several processes together may go past
 * `max` by what they accept within a second.
 */
export const createBacklog = (database: Database, now: () => number, max: number): Backlog => {
  const counted = new LRUCache<number, { free: number; at: number }>({ max: remembered });

  const count = async (projectNumber: number) => {
    const [row] = await database.named<{ waiting: number }>(
      'count-waiting-mails',
      `SELECT count(*)::int AS waiting FROM
         (SELECT FROM mails WHERE project_number = $1 AND status = 'queued' LIMIT $2) waiting`,
      [projectNumber, max],
    );
    const fresh = { free: max - (row?.waiting ?? 0), at: now() };
    counted.set(projectNumber, fresh);
    return fresh;
  };

  return {
    async take(projectNumber) {
      const known = counted.get(projectNumber);
      const isFresh = known && known.free > 0 && now() - known.at < recountMs;
      const places = isFresh ? known : await count(projectNumber);
      if (places.free <= 0) return false;
      places.free -= 1;
      return true;
    },
  };
};
