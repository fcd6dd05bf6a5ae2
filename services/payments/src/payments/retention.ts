import type { Database } from '@backlot/database';

const dayMs = 24 * 60 * 60 * 1000;
/** Stripe repeats an event for three days. */
const eventRetentionMs = 30 * dayMs;
/** After the session's end. Money that comes late is known for 30 days more than anybody asks for it. */
export const unpaidRetentionMs = 60 * dayMs;
const batchSize = 10_000;

/** Deletes what nobody asks for any more, at most 10,000 rows of a table. */
export const deleteOld = async (database: Database, now: number): Promise<void> => {
  const unpaidBefore = [new Date(now - unpaidRetentionMs)];
  // The status twice: money may arrive in between.
  await database.query(
    `DELETE FROM payments WHERE status IN ('failed', 'expired') AND id IN (
       SELECT id FROM payments WHERE status IN ('failed', 'expired') AND expires_at < $1 LIMIT ${batchSize})`,
    unpaidBefore,
  );
  await database.query(
    `DELETE FROM test_sessions WHERE id IN (
       SELECT id FROM test_sessions WHERE status IN ('open', 'expired') AND expires_at < $1 LIMIT ${batchSize})`,
    unpaidBefore,
  );
  await database.query(
    `DELETE FROM heard_events WHERE (project_number, event_id) IN (
       SELECT project_number, event_id FROM heard_events WHERE heard_at < $1 LIMIT ${batchSize})`,
    [new Date(now - eventRetentionMs)],
  );
};
