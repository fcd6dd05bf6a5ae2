import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';

export interface Backlog {
  /** Takes so many of the project's places for waiting mails; false if none is free. */
  take(projectNumber: number, places?: number): Promise<boolean>;
}

const recountMs = 1000;
const maxProjects = 10_000;

/**
 * Limits a project's waiting mails. They are counted at most once a second, because counting for each
 * mail gets slower the more are waiting. Several processes together may exceed `max` by what they
 * accept within a second.
 */
export const createBacklog = (database: Database, now: () => number, max: number): Backlog => {
  const counted = new LRUCache<number, { free: number; at: number }>({ max: maxProjects });

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
    async take(projectNumber, taken = 1) {
      const known = counted.get(projectNumber);
      const isFresh = known && known.free > 0 && now() - known.at < recountMs;
      const places = isFresh ? known : await count(projectNumber);
      if (places.free <= 0) return false;
      places.free -= taken;
      return true;
    },
  };
};
