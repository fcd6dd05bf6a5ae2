import type { Database } from '@backlot/database';
import { FairShareFull, type FairShares, outsideCalls, WaitedTooLong } from '@backlot/fair-shares';
import { SealBroken } from '@backlot/sealing';
import { countRepeats, type Logger } from '@backlot/telemetry';
import type { LeasedWebhook } from './claim.ts';
import { LeaseLost, type Queue } from './queue.ts';
import type { Send } from './send.ts';

/** Of one webhook, at once and of different keys. */
const sentAtOnce = 4;
/** A turn of one webhook ends after so long, or so many rounds. */
const turnMs = 5000;
const maxRounds = 50;
const maxWaitMs = 5000;
/** A receiver that has taken nothing of a round, or whose turn failed, is let be for so long, however much waits for it. */
export const restMs = 5000;
/** A secret that no master key opens is tried again after so long. */
const sealedAgainMs = 5 * 60 * 1000;

export interface WorkerDeps {
  database: Database;
  queue: Queue;
  send: Send;
  now: () => number;
  log: Logger;
}

interface LaneOptions {
  isSlow: boolean;
  /** Webhooks that are told at once. */
  places: number;
  perOwner: number;
}

/** Tells webhooks' receivers, each webhook in turn and in the hands of one process. */
const createLane = (deps: WorkerDeps, { isSlow, places, perOwner }: LaneOptions) => {
  const { database, queue, send, now, log } = deps;
  const shares: FairShares = outsideCalls({ places, perOwner });
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;
  let isWakeRequested = false;
  let isStopping = false;
  const failed = countRepeats((failure) => log.error(failure, 'webhooks were not told; retrying'));

  /** Answers until when the receiver is to be let be. */
  const tell = async (webhook: LeasedWebhook): Promise<number> => {
    const endsAt = performance.now() + turnMs;
    // The receiver's host stands where a caller's address does: many webhooks may lead to it.
    const requester = [
      webhook.ownerId ?? `project ${webhook.projectId}`,
      webhook.projectId,
      new URL(webhook.url).host,
    ] as const;
    for (let round = 0; round < maxRounds && performance.now() < endsAt && !isStopping; round++) {
      const due = await queue.find(webhook, sentAtOnce);
      if (due.length === 0) return 0;
      const results = await Promise.allSettled(
        due.map(async (delivery) => {
          const attempt = await shares.run(requester, () => send(webhook, delivery), { maxWaitMs });
          return queue.finish(webhook, delivery, attempt);
        }),
      );
      const told = results.map((result) => {
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      });
      if (!told.some(({ isDelivered }) => isDelivered)) return now() + restMs;
      if (!told.every(({ goesOn }) => goesOn)) return 0;
    }
    return 0;
  };

  const isNoFault = (error: unknown) =>
    error instanceof FairShareFull || error instanceof WaitedTooLong || error instanceof LeaseLost;

  const takeTurn = async (webhook: LeasedWebhook) => {
    let notBeforeMs = 0;
    try {
      notBeforeMs = await tell(webhook);
    } catch (error) {
      if (!isNoFault(error)) {
        notBeforeMs = now() + (error instanceof SealBroken ? sealedAgainMs : restMs);
        failed(error);
      }
    }
    await queue.release(webhook, notBeforeMs).catch((error: unknown) => {
      if (!isNoFault(error)) failed(error);
    });
  };

  const start = (webhook: LeasedWebhook) => {
    const turn = database
      .inProject(webhook.projectNumber, () => takeTurn(webhook))
      .finally(() => {
        running.delete(turn);
        wake();
      });
    running.add(turn);
  };

  const look = async () => {
    while (isWakeRequested && !isStopping && running.size < places) {
      isWakeRequested = false;
      const limit = places - running.size;
      const claimed = await database.acrossProjects(() => queue.claim({ isSlow, limit, perOwner }));
      for (const webhook of claimed) start(webhook);
    }
  };

  const wake = () => {
    isWakeRequested = true;
    looking ??= look()
      .catch(failed)
      .finally(() => {
        looking = undefined;
      });
  };

  return {
    wake,
    shares,
    async stop() {
      isStopping = true;
      await looking;
      await Promise.all(running);
    },
  };
};

export type Worker = ReturnType<typeof createWorker>;

/** Receivers that take long are told in places of their own, so that they keep nobody else's waiting. */
export const createWorker = (deps: WorkerDeps) => {
  const quick = createLane(deps, { isSlow: false, places: 32, perOwner: 8 });
  const slow = createLane(deps, { isSlow: true, places: 24, perOwner: 4 });
  return {
    /** Looks for what is due; returns at once. */
    wake() {
      quick.wake();
      slow.wake();
    },
    queues: { webhooks: quick.shares, slowWebhooks: slow.shares },
    /** Ends when the calls under way have. */
    stop: async () => void (await Promise.all([quick.stop(), slow.stop()])),
  };
};
