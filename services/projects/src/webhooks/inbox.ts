import { type AppEvent, webhookRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Stop } from './stop.ts';

const { maxWebhooks } = webhookRoutes;

/** Of one webhook; past them it is switched off. */
export const maxWaiting = 10_000;
/** Kept for all webhooks of a project; past them records are named and not shown. */
export const maxShownBytes = 96 * 1024 * 1024;
/** Past them those webhooks are switched off that have more than their part. */
export const maxKeptBytes = 128 * 1024 * 1024;
/** Numbers that one event may have the feed pass. */
const maxRun = 1000;
/** An event that did not come by then is not waited for: the bus has given it up. */
const gapMs = 15 * 60 * 1000;
const gapsAtOnce = 100;

export interface InboxDeps {
  database: Database;
  stop: Stop;
  now: () => number;
}

/** Advances the feed over what has arrived behind it; the feed is locked. */
const advance = `WITH RECURSIVE run (number) AS (
    SELECT $2::int8
     UNION ALL
    SELECT run.number + 1 FROM run
     WHERE run.number < $2::int8 + ${maxRun} AND EXISTS (
       SELECT FROM webhook_arrivals AS next WHERE next.project_number = $1 AND next.number = run.number + 1)),
  passed AS (
    DELETE FROM webhook_arrivals WHERE project_number = $1 AND number <= (SELECT max(number) FROM run))
  UPDATE webhook_feeds SET reached = (SELECT max(number) FROM run) WHERE project_number = $1 RETURNING reached`;

/** Takes what happened in apps, in whatever order and however often it comes: a row for each webhook that wants it. */
export const createInbox = ({ database, stop, now }: InboxDeps) => {
  /** What was held back by a gap may go. */
  const wakeAll = (projectNumber: number) =>
    database.query(
      `UPDATE webhooks SET due_at = least(due_at, $2) WHERE project_number = $1 AND name IN (
         SELECT name FROM webhooks WHERE project_number = $1 AND waiting > 0
         ORDER BY name FOR NO KEY UPDATE)`,
      [projectNumber, new Date(now())],
    );

  const advanceFrom = async (projectNumber: number, number: number) => {
    const [{ reached = number } = {}] = await database.query<{ reached: number }>(advance, [
      projectNumber,
      number,
    ]);
    if (reached > number) await wakeAll(projectNumber);
  };

  /** Belongs into the transaction that stores the event. */
  const count = async (projectNumber: number, number: number) => {
    await database.query(
      'INSERT INTO webhook_feeds (project_number) SELECT number FROM projects WHERE number = $1 ON CONFLICT DO NOTHING',
      [projectNumber],
    );
    const [feed] = await database.query<{ reached: number }>(
      'SELECT reached FROM webhook_feeds WHERE project_number = $1 FOR UPDATE',
      [projectNumber],
    );
    if (!feed || number <= feed.reached) return;
    if (number === feed.reached + 1) return advanceFrom(projectNumber, number);
    await database.query(
      'INSERT INTO webhook_arrivals (project_number, number, arrived_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [projectNumber, number, new Date(now())],
    );
  };

  const store = async (event: AppEvent, projectId: string) => {
    const { id, projectNumber, type, orderKey, number, collection, occurredAt } = event;
    const write = (data: AppEvent['data']) =>
      JSON.stringify({ type, timestamp: occurredAt, projectId, data });
    const { record: _, ...named } = event.data;
    const body = write(event.data);
    const short = collection === undefined ? body : write(named);
    const at = new Date(now());
    const types = collection === undefined ? [type] : [type, `${type}:${collection}`];
    return database.query<{ name: string; waiting: number; kept_bytes: number; all_bytes: number }>(
      `WITH every AS (
         SELECT coalesce(sum(kept_bytes), 0)::int8 AS bytes FROM webhooks WHERE project_number = $1),
       sent AS (
         SELECT body, octet_length(body) AS bytes FROM every,
           LATERAL (SELECT CASE WHEN bytes > ${maxShownBytes} THEN $7 ELSE $6 END AS body) AS chosen),
       wanting AS (
         SELECT name FROM webhooks
          WHERE project_number = $1 AND off_reason IS NULL AND wanted && $4::text[]
            AND ($5::text[] IS NULL OR name = ANY ($5))
          ORDER BY name FOR NO KEY UPDATE),
       stored AS (
         INSERT INTO webhook_deliveries (project_number, webhook, event_id, type, body, bytes, order_key,
           position, number, user_id, next_try_at, occurred_at, created_at)
         SELECT $1, name, $2, $3, body, bytes, $8, $9, $10, $11, $12, $13, $12 FROM wanting, sent
         ON CONFLICT DO NOTHING RETURNING webhook)
       UPDATE webhooks SET waiting = waiting + 1, kept = kept + 1, kept_bytes = kept_bytes + sent.bytes,
              due_at = least(due_at, $12)
         FROM stored, sent WHERE project_number = $1 AND name = stored.webhook
       RETURNING name, waiting, kept_bytes, (SELECT bytes FROM every) AS all_bytes`,
      [
        projectNumber,
        id,
        type,
        types,
        event.webhooks ?? null,
        body,
        short,
        orderKey,
        number ?? Date.parse(occurredAt),
        number ?? null,
        event.userId ?? null,
        at,
        new Date(occurredAt),
      ],
    );
  };

  return {
    take: (event: AppEvent): Promise<void> =>
      database.transaction(async () => {
        const { projectNumber } = event;
        const [project] = await database.query<{ id: string }>(
          'SELECT id FROM projects WHERE number = $1',
          [projectNumber],
        );
        if (!project) return;
        // The feed is locked before the webhooks, as by whatever passes a gap.
        if (event.number !== undefined) await count(projectNumber, event.number);
        for (const { name, waiting, kept_bytes, all_bytes } of await store(event, project.id))
          if (
            waiting > maxWaiting ||
            (all_bytes > maxKeptBytes && kept_bytes > maxKeptBytes / maxWebhooks)
          )
            await stop(projectNumber, name, 'too many events wait for it');
      }),

    /** Goes on behind events that have not come for long. Returns how many gaps were passed. */
    async passGaps(): Promise<number> {
      const gaps = await database.query<{ project_number: number; number: number }>(
        `SELECT project_number, min(number) AS number FROM webhook_arrivals
          WHERE arrived_at < $1 GROUP BY project_number LIMIT ${gapsAtOnce}`,
        [new Date(now() - gapMs)],
      );
      const pass = async (projectNumber: number, number: number) => {
        const [feed] = await database.query<{ reached: number }>(
          'SELECT reached FROM webhook_feeds WHERE project_number = $1 FOR UPDATE',
          [projectNumber],
        );
        if (!feed || feed.reached >= number) return;
        await advanceFrom(projectNumber, number);
        await wakeAll(projectNumber);
      };
      for (const { project_number: projectNumber, number } of gaps)
        await database.inProject(projectNumber, () =>
          database.transaction(() => pass(projectNumber, number)),
        );
      return gaps.length;
    },
  };
};
