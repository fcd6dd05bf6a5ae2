import { describe, expect, it } from '@jest/globals';
import { createFairShares } from './fair-shares.ts';
import { FairShareFull, type Requester, type YieldSlot } from './index.ts';
import { VirtualTime } from './testing/virtual-time.ts';

interface Scene {
  attackers: number;
  isSliced: boolean;
}

const neighbours = 20;
const loopsPerAttacker = 12;
const attackMs = 1000;

const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** 20 neighbours with quick and slow calls beside owners who keep 12 calls of a second under way each. */
async function simulate({ attackers, isSliced }: Scene) {
  const time = new VirtualTime();
  const shares = createFairShares({ slots: 5, quickSlots: 3, now: time.now, random: () => 0 });
  const work = (ms: number) => async (yieldSlot: YieldSlot) => {
    for (let left = ms; left > 0; left -= 50) {
      await time.sleep(Math.min(50, left));
      if (isSliced && left > 50) await yieldSlot();
    }
  };
  /** The attackers begin at once; what their work costs has to be seen first. */
  const from = 5000;
  const until = 25_000;
  const quick: number[] = [];
  const slow: number[] = [];
  let refused = 0;
  const call = async (requester: Requester, ms: number, isQuick: boolean, taken: number[]) => {
    const start = time.now();
    try {
      await shares.run(requester, work(ms), { isQuick });
      if (start >= from) taken.push(time.now() - start);
    } catch (error) {
      if (!(error instanceof FairShareFull)) throw error;
      refused += 1;
    }
  };
  const attack = async (owner: string, address: string) => {
    while (time.now() < until) await call([owner, owner, address], attackMs, false, []);
  };
  const every = async (n: number, ms: number, use: () => Promise<void>) => {
    await time.sleep((ms / neighbours) * n);
    while (time.now() < until) {
      void use();
      await time.sleep(ms);
    }
  };
  for (let n = 0; n < attackers; n++) {
    for (let loop = 0; loop < loopsPerAttacker; loop++) void attack(`attacker ${n}`, `${loop}`);
  }
  for (let n = 0; n < neighbours; n++) {
    const requester: Requester = [`neighbour ${n}`, 'project', 'address'];
    void every(n, 100, () => call(requester, 5, true, quick));
    void every(n, 2000, () => call(requester, 100, false, slow));
  }
  await time.pass();
  return {
    refused,
    quickP99: percentile(quick, 0.99),
    slowP99: percentile(slow, 0.99),
    answered: { quick: quick.length, slow: slow.length },
    usage: shares.usage(),
  };
}

describe('neighbours of attackers', () => {
  const answered = { quick: neighbours * 200, slow: neighbours * 10 };

  it.each([
    { attackers: 3, isSliced: true, slowMs: 150 },
    { attackers: 20, isSliced: true, slowMs: 250 },
    { attackers: 3, isSliced: false, slowMs: 1000 },
    { attackers: 20, isSliced: false, slowMs: 2000 },
  ])(
    '$attackers of them, slices $isSliced: nothing is refused, quick calls take no longer, slow ones at most $slowMs ms',
    async ({ slowMs, ...scene }) => {
      const seen = await simulate(scene);
      expect(seen.refused).toBe(0);
      expect(seen.answered).toEqual(answered);
      expect(seen.quickP99).toBeLessThanOrEqual(10);
      expect(seen.slowP99).toBeLessThanOrEqual(slowMs);
      expect(seen.usage.slow).toMatchObject({ running: 0, waiting: 0, owners: [] });
      expect(seen.usage.quick).toMatchObject({ running: 0, waiting: 0, owners: [] });
    },
  );
});
