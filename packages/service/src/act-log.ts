import type { EventPayloads, ServiceName } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { ActLog } from '@backlot/http';
import { uuidv7 } from 'uuidv7';

export interface ActLogDeps {
  service: ServiceName;
  database: Database;
  outbox: Pick<Outbox<EventPayloads>, 'append'>;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Acts on their way to the audit log, which the projects service keeps: stored with the change, as every event is. */
export const createActLog = ({ service, database, outbox, now }: ActLogDeps): ActLog => ({
  transaction: (work) => database.transaction(work),
  async lock(name) {
    await database.query("SELECT pg_advisory_xact_lock(hashtextextended('act on ' || $1, 0))", [
      name,
    ]);
  },
  append: (act) =>
    outbox.append('platform.acted', {
      id: uuidv7(),
      at: new Date(now()).toISOString(),
      service,
      ...act,
    }),
});
