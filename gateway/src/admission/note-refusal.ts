import type { BudgetRefusal, CreditDirectory } from '@backlot/contract';
import type { Logger } from '@backlot/telemetry';
import { LRUCache } from 'lru-cache';

const maxNoted = 10_000;
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

/**
 * Has the owner told of the first refusal of a day and kind that this process meets; the projects service
 * knows those of others. Holds no call up.
 */
export const createNoteRefusal = (
  credits: Pick<CreditDirectory, 'noteRefusal'>,
  now: () => number,
  log: Logger,
) => {
  const noted = new LRUCache<string, true>({ maxSize: maxNoted, sizeCalculation: () => 1 });
  return (ownerId: string, refusal: BudgetRefusal): void => {
    const key = `${ownerId} ${refusal.kind} ${utcDay(now())}`;
    if (noted.has(key)) return;
    noted.set(key, true);
    credits.noteRefusal(ownerId, refusal).catch((err: unknown) => {
      // The next refusal tries again.
      noted.delete(key);
      log.warn({ err, ownerId }, 'owner not told of a budget that refuses calls');
    });
  };
};
