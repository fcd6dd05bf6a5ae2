import { createFairShares } from '../fair-shares.ts';
import type { Requester } from '../index.ts';
import type { FairSharesOptions } from '../lane.ts';
import { VirtualTime } from './virtual-time.ts';

export const requester = (owner: string, project = 'shop', address = '192.0.2.1'): Requester => [
  owner,
  project,
  address,
];

/** Shares on a virtual clock, and a log of the work that began. */
export function setUp(options: Partial<FairSharesOptions> = {}) {
  const time = new VirtualTime();
  const shares = createFairShares({
    slots: 1,
    now: time.now,
    sleep: time.sleep,
    random: () => 0,
    ...options,
  });
  const begun: string[] = [];
  const job = (whose: Requester, ms: number, name = whose.join(' ')) =>
    shares.run(whose, async () => {
      begun.push(name);
      await time.sleep(ms);
      return name;
    });
  /** Requesters that each have a next job ready for as long as the test runs. */
  const busy = (whose: Requester, ms: number) => {
    for (let n = 0; n < 4; n++) {
      const loop = (): Promise<unknown> => job(whose, ms, whose.join(' ')).then(loop);
      void loop();
    }
  };
  const count = (name: string) => begun.filter((entry) => entry === name).length;
  return { time, shares, begun, job, busy, count };
}
