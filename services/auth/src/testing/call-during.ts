import { until } from '@backlot/testing';
import type { TestBed } from './test-bed.ts';

/** The answer of a call that has to wait for the account of a user, in which `change` ($1: the user) happens meanwhile. */
export const callDuring = async <T>(
  bed: Pick<TestBed, 'database' | 'ownerDatabase'>,
  userId: string,
  change: string,
  call: () => Promise<T>,
): Promise<T> => {
  const [answer] = await bed.database.transaction(async () => {
    await bed.database.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
    const called = call();
    await until(async () => {
      const waiting = await bed.ownerDatabase.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await bed.database.query(change, [userId]);
    return [called];
  });
  return answer;
};
