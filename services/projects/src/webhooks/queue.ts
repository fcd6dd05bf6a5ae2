import { type DeliveryAttempt, webhookRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { createClaim, type LeasedWebhook } from './claim.ts';
import type { Stop } from './stop.ts';

const { maxTries, maxWebhooks } = webhookRoutes;

const [second, minute, hour] = [1000, 60_000, 3_600_000];
/** After the first try, the second and so on: the eighth comes within a day. */
const delaysMs = [5 * second, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 15 * hour];
/** From then on a receiver is slow: it is told in places of its own. */
const slowMs = 1000;
/** Of one webhook, waiting ones among them. */
const maxKept = 10_000;
/** Of a project: past them its webhooks that have more than their part forget a tenth each time. */
const maxKeptBytes = 64 * 1024 * 1024;
const trimmedAtOnce = 1000;

export interface DueDelivery {
  id: string;
  body: string;
  tries: DeliveryAttempt[];
}

/** Somebody else tells this webhook's receiver by now, or it is gone. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export type Queue = ReturnType<typeof createQueue>;

/** Which webhooks are due, and what of each is to be sent now: of one key the first that waits, and no other. */
export const createQueue = (database: Database, stop: Stop, now: () => number) => {
  /** @throws LeaseLost */
  const update = async (
    { projectNumber, name, worker }: LeasedWebhook,
    set: string,
    values: readonly unknown[] = [],
  ) => {
    const { rowCount } = await database.execute(
      `UPDATE webhooks SET ${set} WHERE project_number = $1 AND name = $2 AND worker = $3`,
      [projectNumber, name, worker, ...values],
    );
    if (rowCount === 0) throw new LeaseLost('The webhook is in other hands.');
  };

  /** Forgets the oldest of what was told where too much is kept. */
  const trim = ({ projectNumber, name }: LeasedWebhook) =>
    database.query(
      `WITH hook AS (
         SELECT greatest(kept - ${maxKept}, CASE WHEN kept_bytes > ${maxKeptBytes / maxWebhooks} AND ${maxKeptBytes} < (
             SELECT sum(kept_bytes) FROM webhooks WHERE project_number = $1) THEN kept / 10 + 1 ELSE 0 END) AS excess
           FROM webhooks WHERE project_number = $1 AND name = $2),
       gone AS (
         DELETE FROM webhook_deliveries WHERE project_number = $1 AND webhook = $2 AND event_id IN (
           SELECT event_id FROM webhook_deliveries
            WHERE project_number = $1 AND webhook = $2 AND status <> 'waiting'
            ORDER BY created_at, event_id
            LIMIT (SELECT least(excess, ${trimmedAtOnce}) FROM hook))
         RETURNING bytes)
       UPDATE webhooks SET kept = kept - counted.rows, kept_bytes = kept_bytes - counted.bytes
         FROM (SELECT count(*) AS rows, coalesce(sum(bytes), 0) AS bytes FROM gone) AS counted
        WHERE project_number = $1 AND name = $2 AND counted.rows > 0`,
      [projectNumber, name],
    );

  return {
    claim: createClaim(database, now),

    /** Of different keys; oldest first. */
    async find({ projectNumber, name }: LeasedWebhook, limit: number): Promise<DueDelivery[]> {
      return database.query<DueDelivery>(
        `SELECT event_id AS id, body, tries FROM webhook_deliveries AS due
          WHERE project_number = $1 AND webhook = $2 AND status = 'waiting' AND next_try_at <= $3
            AND (number IS NULL OR number <= (SELECT reached FROM webhook_feeds WHERE project_number = $1))
            AND NOT EXISTS (
              SELECT FROM webhook_deliveries AS before
               WHERE before.project_number = $1 AND before.webhook = $2 AND before.status = 'waiting'
                 AND before.order_key = due.order_key
                 AND (before.position, before.event_id) < (due.position, due.event_id))
          ORDER BY next_try_at, position LIMIT $4`,
        [projectNumber, name, new Date(now()), limit],
      );
    },

    /**
     * What came of a try. An event whose eighth fails is given up, and what waits behind it goes on; where the receiver
     * has taken nothing since the first of them, a day ago, the webhook is off.
     * @throws LeaseLost
     */
    finish: (
      webhook: LeasedWebhook,
      { id, tries }: DueDelivery,
      { isDelivered, ...attempt }: DeliveryAttempt & { isDelivered: boolean },
    ): Promise<{ goesOn: boolean; isDelivered: boolean }> =>
      database.transaction(async () => {
        const delayMs = delaysMs[tries.length];
        const hasEnded = isDelivered || delayMs === undefined;
        const status = isDelivered ? 'delivered' : hasEnded ? 'failed' : 'waiting';
        const isSlow = attempt.ms > slowMs;
        const { projectNumber, name } = webhook;
        const at = new Date(now());
        await update(webhook, 'is_slow = $4, delivered_at = coalesce($5, delivered_at)', [
          isSlow,
          isDelivered ? at : null,
        ]);
        const { rowCount } = await database.execute(
          `UPDATE webhook_deliveries SET status = $4, tries = $5, next_try_at = $6
            WHERE project_number = $1 AND webhook = $2 AND event_id = $3 AND status = 'waiting'`,
          [
            projectNumber,
            name,
            id,
            status,
            JSON.stringify([...tries, attempt].slice(-maxTries)),
            hasEnded ? null : new Date(now() + delayMs),
          ],
        );
        if (hasEnded && rowCount !== 0) await update(webhook, 'waiting = waiting - 1');
        if (status !== 'failed') return { goesOn: !isSlow, isDelivered };
        const { rowCount: parked } = await database.execute(
          `UPDATE webhooks SET parked_at = $3
            WHERE project_number = $1 AND name = $2 AND delivered_at >= $4`,
          [projectNumber, name, at, tries[0]?.at],
        );
        if (parked !== 0) return { goesOn: !isSlow, isDelivered };
        await stop(
          projectNumber,
          name,
          `${maxTries} tries to tell of event ${id} have failed; at the last, ${attempt.error}`,
        );
        return { goesOn: false, isDelivered };
      }),

    /** Somebody else may have it; not before that time, where one is said. @throws LeaseLost */
    release: (webhook: LeasedWebhook, notBeforeMs = 0): Promise<void> =>
      database.transaction(async () => {
        // What is stored from here on finds the row locked and brings the time forward again.
        await update(webhook, 'worker = NULL, lease_ends_at = NULL');
        const { projectNumber, name } = webhook;
        await trim(webhook);
        await database.query(
          `UPDATE webhooks SET due_at = (
             SELECT CASE WHEN count(*) > 0 THEN greatest($3, min(next_try_at)) END FROM (
               SELECT DISTINCT ON (order_key) next_try_at, number FROM webhook_deliveries
                WHERE project_number = $1 AND webhook = $2 AND status = 'waiting'
                ORDER BY order_key, position, event_id) AS first
              WHERE number IS NULL OR number <= (SELECT reached FROM webhook_feeds WHERE project_number = $1))
            WHERE project_number = $1 AND name = $2`,
          [projectNumber, name, new Date(notBeforeMs)],
        );
      }),
  };
};
