import { ApiError, type DeliveryAttempt, type WebhookDelivery } from '@backlot/contract';
import { createQueries, type Database, workLeft } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { ProjectScope } from '../projects/scope.ts';
import type { DB as Tables } from '../tables.ts';
import { maxWaiting } from './inbox.ts';
import type { Webhooks } from './webhooks.ts';

const keptMs = 7 * 24 * 60 * 60 * 1000;
const forgottenAtOnce = 1000;

export interface LogDeps {
  database: Database;
  webhooks: Pick<Webhooks, 'get'>;
  now: () => number;
}

type Replayed = { id: string } | { since: string };
type DeliveryQuery = PageQuery & { status?: WebhookDelivery['status'] | undefined };

export type Log = ReturnType<typeof createLog>;

/** What was sent and what waits: shown, sent again, and forgotten after a week. */
export const createLog = ({ database, webhooks, now }: LogDeps) => {
  const queries = createQueries<Tables>(database);

  /** Up to a thousand of one project, whose webhooks are locked before what they tell, as everywhere. */
  const forget = (projectNumber: number, condition: string, value: unknown) =>
    database.inProject(projectNumber, () =>
      database.transaction(async () => {
        await database.query(
          'SELECT FROM webhooks WHERE project_number = $1 ORDER BY name FOR NO KEY UPDATE',
          [projectNumber],
        );
        const [forgotten] = await database.query<{ rows: number }>(
          `WITH gone AS (
             DELETE FROM webhook_deliveries WHERE project_number = $1 AND (webhook, event_id) IN (
               SELECT webhook, event_id FROM webhook_deliveries
                WHERE project_number = $1 AND ${condition} LIMIT ${forgottenAtOnce})
             RETURNING webhook, bytes, status),
           counted AS (
             SELECT webhook, count(*) FILTER (WHERE status = 'waiting') AS waiting, count(*) AS rows,
                    sum(bytes) AS bytes FROM gone GROUP BY webhook),
           subtracted AS (
             UPDATE webhooks SET waiting = webhooks.waiting - counted.waiting, kept = kept - counted.rows,
                    kept_bytes = kept_bytes - counted.bytes
               FROM counted WHERE project_number = $1 AND name = counted.webhook)
           SELECT count(*) AS rows FROM gone`,
          [projectNumber, value],
        );
        return forgotten?.rows === forgottenAtOnce;
      }),
    );

  const checkKnown = async (projectNumber: number, name: string, id: string) => {
    const known = await database.query(
      'SELECT FROM webhook_deliveries WHERE project_number = $1 AND webhook = $2 AND event_id = $3',
      [projectNumber, name, id],
    );
    if (known.length === 0)
      throw new ApiError('not_found', 'This webhook has told of no such event.');
  };

  return {
    /** Newest first. @throws ApiError project_not_found, project_deleted, not_found, invalid_cursor */
    async list(
      scope: ProjectScope,
      name: string,
      query: DeliveryQuery,
    ): Promise<Page<WebhookDelivery>> {
      const list = `deliveries of ${name}`;
      const after = readPosition(list, query.cursor);
      await webhooks.get(scope, name);
      const all = queries
        .selectFrom('webhook_deliveries')
        .select(['event_id as id', 'type', 'status', 'tries', 'next_try_at'])
        .select(['occurred_at', 'created_at'])
        .where('project_number', '=', scope.projectNumber)
        .where('webhook', '=', name);
      const those = query.status === undefined ? all : all.where('status', '=', query.status);
      const page = after
        ? those.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('created_at', 'event_id'), '<', tuple(after.createdAt, after.id)),
          )
        : those;
      const rows = await page
        .orderBy('created_at', 'desc')
        .orderBy('event_id', 'desc')
        .limit(query.limit + 1)
        .execute();
      return presentPage(list, query, rows, (row) => ({
        id: row.id,
        type: row.type,
        status: row.status as WebhookDelivery['status'],
        tries: row.tries as unknown as DeliveryAttempt[],
        nextTryAt: row.next_try_at?.toISOString() ?? null,
        occurredAt: row.occurred_at.toISOString(),
        createdAt: row.created_at.toISOString(),
      }));
    },

    /**
     * Those that have ended wait anew, as many as may wait; returns how many.
     * @throws ApiError project_not_found, project_deleted, not_found, conflict
     */
    replay: (scope: ProjectScope, name: string, which: Replayed): Promise<number> =>
      database.transaction(async () => {
        const { projectNumber } = scope;
        await webhooks.get(scope, name);
        const [hook] = await database.query<{ waiting: number; off_reason: string | null }>(
          'SELECT waiting, off_reason FROM webhooks WHERE project_number = $1 AND name = $2 FOR NO KEY UPDATE',
          [projectNumber, name],
        );
        if (!hook || hook.off_reason !== null)
          throw new ApiError('conflict', 'This webhook is off.', {
            hint: 'Set it again (PUT): that switches it on, and what waits is sent.',
          });
        const condition = 'id' in which ? 'event_id = $3::uuid' : 'created_at >= $3::timestamptz';
        const { rowCount } = await database.execute(
          `UPDATE webhook_deliveries SET status = 'waiting', tries = '[]', next_try_at = $4
            WHERE project_number = $1 AND webhook = $2 AND event_id IN (
              SELECT event_id FROM webhook_deliveries
               WHERE project_number = $1 AND webhook = $2 AND status <> 'waiting' AND ${condition}
               ORDER BY created_at, event_id LIMIT $5)`,
          [
            projectNumber,
            name,
            'id' in which ? which.id : which.since,
            new Date(now()),
            Math.max(0, maxWaiting - hook.waiting),
          ],
        );
        const queued = rowCount ?? 0;
        if ('id' in which && queued === 0) await checkKnown(projectNumber, name, which.id);
        await database.query(
          `UPDATE webhooks SET waiting = waiting + $3, due_at = least(due_at, $4),
                  parked_at = CASE WHEN EXISTS (
                    SELECT FROM webhook_deliveries
                     WHERE project_number = $1 AND webhook = $2 AND status = 'failed') THEN parked_at END
            WHERE project_number = $1 AND name = $2 AND $3 > 0`,
          [projectNumber, name, queued, new Date(now())],
        );
        return queued;
      }),

    /** What was told of somebody who is no user any more, and what would have been. */
    async eraseUser(projectNumber: number, userId: string): Promise<void> {
      while (await forget(projectNumber, 'user_id = $2', userId));
    },

    /** What was told of one user goes with another one's account. May be repeated. */
    async mergeUser(projectNumber: number, from: string, to: string): Promise<void> {
      await database.query(
        'UPDATE webhook_deliveries SET user_id = $3 WHERE project_number = $1 AND user_id = $2',
        [projectNumber, from, to],
      );
    },

    async sweep(): Promise<typeof workLeft | undefined> {
      const before = new Date(now() - keptMs);
      const projects = await database.query<{ project_number: number }>(
        `SELECT DISTINCT project_number FROM (
           SELECT project_number FROM webhook_deliveries WHERE created_at < $1
            ORDER BY created_at LIMIT ${forgottenAtOnce}) AS oldest`,
        [before],
      );
      for (const { project_number: projectNumber } of projects)
        await forget(projectNumber, 'created_at < $2', before);
      return projects.length > 0 ? workLeft : undefined;
    },
  };
};
