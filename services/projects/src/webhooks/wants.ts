import {
  type EventPayloads,
  type Payload,
  type RecordEventType,
  webhookRoutes,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';

const { maxWebhooks } = webhookRoutes;

type Wants = Payload<'webhooks.changed'>['wants'];

interface WantingRow {
  name: string;
  wanted: readonly string[];
  where_filter: Record<string, unknown> | null;
  tells_since: Date;
}

/** What webhooks want of records: an entry for each collection that one names, and one for all others. */
const wantsOfRecords = (rows: readonly WantingRow[]): Wants =>
  rows.flatMap(({ name, wanted, where_filter: where, tells_since: since }) => {
    const ofRecords = wanted.filter((type) => type.startsWith('record.')).map((t) => t.split(':'));
    const byCollection = Map.groupBy(ofRecords, ([, collection]) => collection ?? null);
    return [...byCollection].map(([collection, types]) => ({
      webhook: name,
      types: types.map(([type]) => type as RecordEventType),
      collection,
      where,
      since: since.toISOString(),
    }));
  });

export type TellWants = ReturnType<typeof createTellWants>;

/** Tells records what is wanted of it now. Belongs behind the change, in its transaction: who comes later sees it. */
export const createTellWants = (database: Database, outbox: Outbox<EventPayloads>) => {
  return async (projectId: string, projectNumber: number) => {
    const [told] = await database.query<{ version: number }>(
      `INSERT INTO webhook_wants AS kept (project_number, version) VALUES ($1, 1)
       ON CONFLICT (project_number) DO UPDATE SET version = kept.version + 1 RETURNING version`,
      [projectNumber],
    );
    const rows = await database.query<WantingRow>(
      `SELECT name, wanted, where_filter, tells_since FROM webhooks
        WHERE project_number = $1 AND off_reason IS NULL ORDER BY name LIMIT ${maxWebhooks}`,
      [projectNumber],
    );
    await outbox.append('webhooks.changed', {
      projectId,
      projectNumber,
      version: told?.version ?? 0,
      wants: wantsOfRecords(rows),
    });
  };
};
