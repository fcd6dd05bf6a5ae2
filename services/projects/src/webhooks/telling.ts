import type { AppEvent, EventPayloads, FilterDirectory } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Names } from '@backlot/outgoing';
import type { Sealer } from '@backlot/sealing';
import type { Logger } from '@backlot/telemetry';
import type { ProjectsConfig } from '../config.ts';
import type { Projects } from '../projects/projects.ts';
import { createInbox } from './inbox.ts';
import { createLog } from './log.ts';
import { createQueue } from './queue.ts';
import { createSend } from './send.ts';
import { createStop } from './stop.ts';
import { createTellWants } from './wants.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorker } from './worker.ts';

export interface TellingDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  config: Pick<ProjectsConfig, 'webhooksToLoopback' | 'webhookTimeoutMs'>;
  projects: Projects;
  sealer: Sealer;
  filters: FilterDirectory;
  names: Names;
  now: () => number;
  log: Logger;
}

/** Finds what is due for another try, and what a killed process has left. */
const pollMs = 1000;
const gapsEveryMs = 60_000;

/** From what happened in an app to those who are told: webhooks, what waits for them, and who sends it. */
export const createTelling = (deps: TellingDeps) => {
  const { database, outbox, config, now, log } = deps;
  const allowsLoopback = config.webhooksToLoopback;
  const tellWants = createTellWants(database, outbox);
  const stop = createStop(database, outbox, tellWants, now);
  const webhooks = createWebhooks({ ...deps, tellWants, allowsLoopback });
  const inbox = createInbox({ database, stop, now });
  const deliveries = createLog({ database, webhooks, now });
  const queue = createQueue(database, stop, now);
  const send = createSend({ ...deps, allowsLoopback, timeoutMs: config.webhookTimeoutMs });
  const worker = createWorker({ database, queue, send, now, log });
  // Within a transaction there is nothing to be seen yet, and what is begun there would belong to it.
  const wake = () => database.afterCommit(worker.wake);
  const passGaps = async () => {
    const passed = await inbox.passGaps();
    if (passed > 0) log.error({ passed }, 'events of records have not come; going on without them');
  };
  return {
    webhooks,
    passGaps,
    log: deliveries,
    queues: worker.queues,
    wake,
    stop: worker.stop,
    async take(event: AppEvent) {
      await inbox.take(event);
      wake();
    },
    sweeps: [
      { run: async () => worker.wake(), everyMs: pollMs },
      { run: () => deliveries.sweep() },
      { run: passGaps, everyMs: gapsEveryMs },
    ],
  };
};
