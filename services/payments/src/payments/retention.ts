import { type Database, deleteExpired } from '@backlot/database';

const dayMs = 24 * 60 * 60 * 1000;
/** Stripe repeats an event for three days. */
const eventRetentionMs = 30 * dayMs;
/** After the session's end. Money that comes late is known for 30 days more than anybody asks for it. */
const unpaidRetentionMs = 60 * dayMs;

/** Deletes a part of what nobody asks for any more. @returns whether there may be more */
export const deleteOld = (database: Database, now: number) => {
  const unpaidBefore = new Date(now - unpaidRetentionMs);
  return deleteExpired(database, [
    {
      table: 'payments',
      condition: `status IN ('failed', 'expired') AND expires_at < $1`,
      values: [unpaidBefore],
    },
    {
      table: 'test_sessions',
      condition: `status IN ('open', 'expired') AND expires_at < $1`,
      values: [unpaidBefore],
    },
    {
      table: 'heard_events',
      condition: 'heard_at < $1',
      values: [new Date(now - eventRetentionMs)],
    },
  ]);
};
