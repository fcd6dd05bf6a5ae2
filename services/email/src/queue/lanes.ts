import { filesInMemory } from '../attachments/attachments.ts';
import type { MailQueues } from './mail-queue.ts';
import { createWorker, type Worker, type WorkerDeps } from './worker.ts';

type LaneDeps = Omit<WorkerDeps, 'queue'> & { queues: MailQueues };

/** Mails with files have a worker of their own: few are under way at a time, and no other mail waits for them. */
export const createLanes = ({ queues, ...deps }: LaneDeps): Worker => {
  const lanes = [
    createWorker({ ...deps, queue: queues.withoutFiles }),
    createWorker({ ...deps, queue: queues.withFiles, concurrency: filesInMemory }),
  ];
  const inEach = async (work: (lane: Worker) => Promise<void>) => {
    await Promise.all(lanes.map(work));
  };
  return {
    wake() {
      for (const lane of lanes) lane.wake();
    },
    drain: () => inEach((lane) => lane.drain()),
    renew: () => inEach((lane) => lane.renew()),
    stop: () => inEach((lane) => lane.stop()),
  };
};
