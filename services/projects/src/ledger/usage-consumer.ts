import { events } from '@backlot/contract';
import { DatabaseUnavailable } from '@backlot/database';
import { z } from 'zod';
import type { Usage } from './account.ts';
import type { Ledger } from './ledger.ts';
import type { Telling } from './telling.ts';

interface Waiting {
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
 * Books `usage.recorded`. Deliveries that come while a transaction is under way share the next one;
 * each resolves when its line is there and the counters have been told.
 */
export const createUsageConsumer = (ledger: Pick<Ledger, 'book'>, telling: Telling) => {
  const waiting: Waiting[] = [];
  let underWay = false;

  /** One event that can't be booked fails alone. */
  const settle = async (batch: Waiting[]): Promise<void> => {
    try {
      const booked = await ledger.book(batch.map((each) => each.usage));
      await Promise.all(booked.map((each) => telling.booked(each)));
      for (const each of batch) each.resolve();
    } catch (error) {
      if (batch.length > 1 && !(error instanceof DatabaseUnavailable)) {
        for (const each of batch) await settle([each]);
      } else for (const each of batch) each.reject(error);
    }
  };

  const drain = async () => {
    if (underWay) return;
    underWay = true;
    while (waiting.length > 0) await settle(waiting.splice(0, maxBatch));
    underWay = false;
  };

  /** @throws ZodError where the payload is no usage */
  return async (payload: unknown): Promise<void> => {
    const usage = usageEvent.parse(payload);
    await new Promise<void>((resolve, reject) => {
      waiting.push({ usage, resolve, reject });
      void drain();
    });
  };
};
