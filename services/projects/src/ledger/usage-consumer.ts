import { events } from '@backlot/contract';
import { DatabaseUnavailable } from '@backlot/database';
import { z } from 'zod';
import type { Usage } from './account/ledger-account.ts';
import type { BalanceNotifier } from './balance-notifier.ts';
import type { Ledger } from './ledger.ts';

interface PendingUsage {
  usage: Usage;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const maxBatch = 100;

/** Beyond any price: an amount that no arithmetic here can round. */
const maxMillicredits = 1e12;

const usageEvent = events['usage.recorded'].extend({
  millicredits: z.number().int().min(0).max(maxMillicredits),
  callId: z.uuid().toLowerCase(),
  occurredAt: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
});

/**
 * Books `usage.recorded`. Deliveries that arrive during a transaction share the next one; each
 * resolves when its line is committed and the counters were notified.
 */
export const createUsageConsumer = (ledger: Pick<Ledger, 'book'>, notifier: BalanceNotifier) => {
  const pending: PendingUsage[] = [];
  let isRunning = false;

  /** One event that can't be booked fails alone. */
  const settle = async (batch: PendingUsage[]): Promise<void> => {
    try {
      const booked = await ledger.book(batch.map(({ usage }) => usage));
      await Promise.all(booked.map((calls) => notifier.notify(calls)));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length > 1 && !(error instanceof DatabaseUnavailable)) {
        for (const pending of batch) await settle([pending]);
      } else for (const { reject } of batch) reject(error);
    }
  };

  const drain = async () => {
    if (isRunning) return;
    isRunning = true;
    while (pending.length > 0) await settle(pending.splice(0, maxBatch));
    isRunning = false;
  };

  /** @throws ZodError where the payload is no usage */
  return async (payload: unknown): Promise<void> => {
    const usage = usageEvent.parse(payload);
    await new Promise<void>((resolve, reject) => {
      pending.push({ usage, resolve, reject });
      void drain();
    });
  };
};
