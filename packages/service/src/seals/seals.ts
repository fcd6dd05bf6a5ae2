import type { SealCounts, SealedUnder } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { SealStore } from './sealed-column.ts';

/** Who asks waits five seconds. */
const longestMs = 2000;
const atOnce = 200;

const mergeKeys = (all: readonly SealedUnder[]): SealedUnder[] =>
  [...Map.groupBy(all, ({ setting, keyId }) => `${setting} ${keyId}`).values()].flatMap(
    ([first, ...others]) =>
      first
        ? [{ ...first, sealed: others.reduce((sum, { sealed }) => sum + sealed, first.sealed) }]
        : [],
  );

const toCounts = (keys: readonly SealedUnder[]): SealCounts => {
  const sumOf = (wanted: SealedUnder['state']) =>
    keys.reduce((sum, { state, sealed }) => (state === wanted ? sum + sealed : sum), 0);
  return { old: sumOf('old'), lost: sumOf('lost'), keys: mergeKeys(keys) };
};

/** What a service has sealed under its master keys. */
export const createSeals = (
  stores: readonly SealStore[],
  { acrossProjects }: Pick<Database, 'acrossProjects'>,
) => {
  const count = () =>
    acrossProjects(async () =>
      toCounts((await Promise.all(stores.map((store) => store.count()))).flat()),
    );
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
