import type { SealCounts } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { SealStore } from './sealed-column.ts';

/** Who asks waits five seconds. */
const longestMs = 2000;
const atOnce = 200;

const sum = (all: readonly SealCounts[]): SealCounts => ({
  old: all.reduce((total, { old }) => total + old, 0),
  lost: all.reduce((total, { lost }) => total + lost, 0),
});

/** What a service has sealed under its master keys. */
export const createSeals = (
  stores: readonly SealStore[],
  { acrossProjects }: Pick<Database, 'acrossProjects'>,
) => {
  const count = () =>
    acrossProjects(async () => sum(await Promise.all(stores.map((store) => store.count()))));
  const reseal = () =>
    acrossProjects(async () => {
      const startedAt = performance.now();
      let resealed = 0;
      for (const store of stores) {
        for (;;) {
          const done = await store.reseal(atOnce);
          resealed += done;
          if (done === 0 || performance.now() - startedAt > longestMs) break;
        }
      }
      return { resealed, ...(await count()) };
    });
  return { count, reseal };
};

export type Seals = ReturnType<typeof createSeals>;
