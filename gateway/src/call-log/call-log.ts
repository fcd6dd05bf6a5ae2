import { randomUUID } from 'node:crypto';
import type { CallBatch, CallLogDirectory } from '@backlot/contract';
import { countRepeats, type Logger } from '@backlot/telemetry';
import { createCallSums, type SummedCall } from './call-sums.ts';
import { callLogBounds, createCollector } from './collector.ts';

/** In milliseconds: how long calls, and sums, are gathered, after what a batch is tried again, and for how long. */
export interface CallLogTimes {
  gatherMs: number;
  sumMs: number;
  retryMs: number;
  giveUpMs: number;
}

export interface CallLogOptions {
  directory: CallLogDirectory;
  /** Epoch milliseconds. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
  times?: CallLogTimes | undefined;
}

const usualTimes: CallLogTimes = { gatherMs: 250, sumMs: 5000, retryMs: 1000, giveUpMs: 60_000 };

interface Batch extends Omit<CallBatch, 'gateway'> {
  since: number;
}

/**
 * Hands what was noted of calls to the projects service, in batches, one at a time. While that service is away the
 * newest calls are kept as far as there is room; what was lost is told with the next batch.
 */
export const createCallLog = ({ directory, now, log, times = usualTimes }: CallLogOptions) => {
  const collector = createCollector(now);
  const sums = createCallSums(now);
  const gateway = randomUUID();
  const warn = countRepeats((failure) => log.warn(failure, 'calls could not be logged; retrying'));
  let count = 0;
  let batch: Batch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sumTimer: NodeJS.Timeout | undefined;
  let areSumsDue = false;
  let underWay: Promise<void> | undefined;

  const nextBatch = (): Batch | undefined => {
    const projects = collector.takeBatch();
    const due = areSumsDue ? sums.take() : undefined;
    areSumsDue = false;
    if (projects.length === 0 && !due) return undefined;
    count += 1;
    return { number: count, projects, ...(due && { sums: due }), since: now() };
  };

  const handOver = async (): Promise<void> => {
    try {
      for (;;) {
        batch ??= nextBatch();
        if (!batch) return;
        const { since: _, ...rest } = batch;
        await directory.takeCalls({ gateway, ...rest });
        batch = undefined;
        if (collector.held() < callLogBounds.batch) return;
      }
    } catch (error) {
      warn(error);
      if (batch && now() - batch.since >= times.giveUpMs) {
        collector.giveUp(batch.projects);
        batch = undefined;
      }
      start(times.retryMs);
    }
  };

  const flush = () => {
    timer = undefined;
    underWay ??= handOver().finally(() => {
      underWay = undefined;
      if (collector.held() > 0 || areSumsDue) start(times.gatherMs);
    });
  };
  const start = (ms: number) => {
    timer ??= setTimeout(flush, ms).unref();
  };

  const flushSums = () => {
    sumTimer = undefined;
    areSumsDue = true;
    if (!underWay) start(0);
  };

  return {
    /** Every call, whatever becomes of it. */
    sum(call: SummedCall): void {
      sums.add(call);
      sumTimer ??= setTimeout(flushSums, times.sumMs).unref();
    },
    note(...noted: Parameters<typeof collector.note>): void {
      collector.note(...noted);
      if (!underWay) start(times.gatherMs);
    },
    /** Hands over what is there, once. */
    async stop(): Promise<void> {
      areSumsDue = true;
      flush();
      await underWay;
      clearTimeout(timer);
      clearTimeout(sumTimer);
    },
  };
};
export type CallLog = ReturnType<typeof createCallLog>;
