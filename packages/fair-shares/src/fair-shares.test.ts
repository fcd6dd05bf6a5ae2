import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createFairShares,
  type FairShareFull,
  type FairSharesOptions,
  type Flow,
  toFlow,
} from './index.ts';
import { VirtualTime } from './testing/virtual-time.ts';

const flow = (owner: string, project = 'shop', address = '192.0.2.1'): Flow => [
  owner,
  project,
  address,
];

/** Shares on a virtual clock, and a log of the work that began. */
function setUp(options: Partial<FairSharesOptions> = {}) {
  const time = new VirtualTime();
  const shares = createFairShares({ slots: 1, now: time.now, random: () => 0, ...options });
  const begun: string[] = [];
  const job = (whose: Flow, ms: number, name = whose.join(' ')) =>
    shares.run(whose, async () => {
      begun.push(name);
      await time.sleep(ms);
      return name;
    });
  /** Flows that each have a next job ready for as long as the test runs. */
  const busy = (whose: Flow, ms: number) => {
    for (let n = 0; n < 4; n++) {
      const loop = (): Promise<unknown> => job(whose, ms, whose.join(' ')).then(loop);
      void loop();
    }
  };
  const count = (name: string) => begun.filter((entry) => entry === name).length;
  return { time, shares, begun, job, busy, count };
}

describe('slots', () => {
  it('are never more than a third of one owner, and always one', async () => {
    for (const [slots, most] of [
      [1, 1],
      [5, 1],
      [6, 2],
      [9, 3],
    ] as const) {
      const { time, shares, begun, job } = setUp({ slots });
      const jobs = Array.from({ length: 12 }, (_, n) => job(flow('eve', `${n}`), 10));
      await time.pass(5);
      expect(begun).toHaveLength(most);
      expect(shares.usage().slow).toMatchObject({ running: most, waiting: 12 - most });
      await time.pass();
      await Promise.all(jobs);
    }
  });

  it('are bounded for a project and for an address too, and who is at a bound holds up nobody else', async () => {
    const { time, shares, begun, job } = setUp({
      ...{ slots: 12, maxRunningPerOwner: 6, maxRunningPerProject: 4, maxRunningPerFlow: 2 },
    });
    const wanted = [
      ...Array.from({ length: 8 }, () => flow('eve', 'shop', '192.0.2.1')),
      ...Array.from({ length: 8 }, () => flow('eve', 'shop', '192.0.2.2')),
      ...Array.from({ length: 8 }, () => flow('eve', 'shop', '192.0.2.3')),
      ...Array.from({ length: 8 }, () => flow('eve', 'blog', '192.0.2.1')),
      flow('ada'),
    ];
    const jobs = wanted.map((whose) => job(whose, 10));
    await time.pass(5);
    const running = (prefix: string) => begun.filter((name) => name.startsWith(prefix)).length;
    expect(running('eve')).toBe(6);
    expect(running('eve shop')).toBe(4);
    for (const n of [1, 2, 3]) expect(running(`eve shop 192.0.2.${n}`)).toBeLessThanOrEqual(2);
    expect(running('ada')).toBe(1);
    await time.pass();
    await Promise.all(jobs);
    expect(shares.usage().slow).toMatchObject({ running: 0, waiting: 0 });
  });

  it('can be taken for what is held, until they are given back, once', async () => {
    const { time, shares, begun, job } = setUp({ maxWaitingPerFlow: 1 });
    const release = await shares.take(flow('eve'));
    const waiting = job(flow('eve'), 10);
    await expect(shares.take(flow('eve'))).rejects.toMatchObject({ name: 'FairShareFull' });
    const further = shares.take(flow('eve'), { continues: true });
    await time.pass(500);
    expect(begun).toEqual([]);
    release();
    release();
    (await further)();
    await time.pass();
    await waiting;
    expect(shares.usage().slow).toMatchObject({ running: 0, costMs: 510 });
  });

  it('may all be of one owner where the caller says so', async () => {
    const { time, begun, job } = setUp({ slots: 2, maxRunningPerOwner: 2 });
    const jobs = Array.from({ length: 3 }, () => job(flow('eve'), 10));
    await time.pass(5);
    expect(begun).toHaveLength(2);
    await time.pass();
    await Promise.all(jobs);
  });

  it('come back from work that fails, with its error', async () => {
    const { shares, job, time } = setUp();
    for (let n = 0; n < 5; n++) {
      const failing = shares.run(flow('ada'), () => Promise.reject(new Error('no')));
      await expect(failing).rejects.toThrow('no');
    }
    const fine = job(flow('ada'), 1, 'fine');
    await time.pass();
    await expect(fine).resolves.toBe('fine');
    expect(shares.usage().slow).toMatchObject({ running: 0, owners: [] });
  });

  it('for quick work are out of reach for the rest', async () => {
    const { time, shares, begun, busy } = setUp({ slots: 3, quickSlots: 1 });
    for (const owner of ['a', 'b', 'c', 'd']) busy(flow(owner), 1000);
    await time.pass(100);
    void shares.run(flow('ada'), async () => begun.push('quick'), { isQuick: true });
    await time.pass(1);
    expect(begun.at(-1)).toBe('quick');
  });
});

describe('shares', () => {
  it('are equal in cost, not in number, between owners', async () => {
    const { time, busy, count } = setUp();
    busy(flow('cheap'), 10);
    busy(flow('dear'), 100);
    await time.pass(20_000);
    const ratio = count('cheap shop 192.0.2.1') / count('dear shop 192.0.2.1');
    expect(ratio).toBeGreaterThan(9);
    expect(ratio).toBeLessThan(11);
  });

  it('of an owner do not grow with projects and addresses, those of a project not with addresses', async () => {
    const { time, busy, count, begun } = setUp();
    busy(flow('one'), 10);
    for (let n = 0; n < 5; n++) busy(flow('many', `project ${n}`), 10);
    for (let n = 0; n < 5; n++) busy(flow('mixed', 'crowded', `address ${n}`), 10);
    busy(flow('mixed', 'calm', 'address'), 10);
    await time.pass(30_000);
    const share = (prefix: string) =>
      begun.filter((entry) => entry.startsWith(prefix)).length / begun.length;
    expect(count('one shop 192.0.2.1') / begun.length).toBeCloseTo(1 / 3, 1);
    expect(share('many')).toBeCloseTo(1 / 3, 1);
    expect(share('mixed crowded')).toBeCloseTo(1 / 6, 1);
    expect(share('mixed calm')).toBeCloseTo(1 / 6, 1);
    for (let n = 0; n < 5; n++) expect(share(`many project ${n}`)).toBeCloseTo(1 / 15, 1);
  });

  it('begin at the present: who was idle goes next, but is owed nothing for it', async () => {
    const { time, begun, busy } = setUp();
    busy(flow('eve'), 10);
    busy(flow('mallory'), 10);
    await time.pass(10_000);
    begun.length = 0;
    busy(flow('ada'), 10);
    await time.pass(30);
    expect(begun).toContain('ada shop 192.0.2.1');
    await time.pass(600);
    const adas = begun.filter((entry) => entry.startsWith('ada')).length;
    expect(adas / begun.length).toBeCloseTo(1 / 3, 1);
  });

  it('are not renewed by a pause', async () => {
    const { time, begun, busy, job } = setUp();
    busy(flow('ada'), 10);
    const pausing = async (): Promise<void> => {
      await job(flow('eve'), 100);
      return pausing();
    };
    void pausing();
    await time.pass(22_000);
    const eves = begun.filter((entry) => entry.startsWith('eve')).length;
    expect(eves).toBeLessThanOrEqual(115);
  });

  it('reach those who wait even where newcomers never end', async () => {
    const { time, begun, job } = setUp();
    let n = 0;
    const newcomers = async (): Promise<void> => {
      n += 1;
      await job(flow('eve', 'shop', `address ${n}`), 10);
      return newcomers();
    };
    for (let loop = 0; loop < 5; loop++) void newcomers();
    void job(flow('eve', 'shop', 'ada'), 100);
    void job(flow('eve', 'shop', 'ada'), 100, 'again');
    await time.pass(20_000);
    expect(begun).toContain('again');
  });

  it('starve nobody, whatever the others do', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const calls = fc.array(
      fc.record({ flow: fc.tuple(key, key, key), at: fc.nat(500), ms: fc.nat(200) }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 7 }), async (all, slots) => {
        const { time, busy, job, begun, shares } = setUp({ slots, maxWaitingPerFlow: 100 });
        busy(flow('eve'), 100);
        busy(flow('mallory'), 7);
        let done = 0;
        for (const { flow: whose, at, ms } of all) {
          void time
            .sleep(at)
            .then(() => job(whose, ms, 'call'))
            .then(() => {
              done += 1;
            });
        }
        await time.pass(500 + 4 * all.reduce((sum, { ms }) => sum + ms + 100, 0));
        expect(done).toBe(all.length);
        expect(begun.filter((entry) => entry === 'call')).toHaveLength(all.length);
        expect(
          shares
            .usage()
            .slow.owners.map(({ owner }) => owner)
            .sort(),
        ).toEqual(['eve', 'mallory']);
      }),
      { numRuns: 30 },
    );
  });
});

describe('waiting', () => {
  it('is bounded for a flow', async () => {
    const { time, job, shares } = setUp({ maxWaitingPerFlow: 3, random: () => 0.99 });
    const jobs = Array.from({ length: 4 }, () => job(flow('eve'), 10));
    await expect(job(flow('eve'), 10)).rejects.toMatchObject({
      name: 'FairShareFull',
      retryAfterSeconds: 4,
    });
    const other = job(flow('eve', 'shop', 'another address'), 10);
    await time.pass();
    await Promise.all([...jobs, other]);
    expect(shares.usage().slow.refused).toBe(1);
  });

  it('is bounded in all, where the latest of whoever has most gives way', async () => {
    const { time, job } = setUp({ maxWaiting: 6 });
    const addresses = ['1', '2', '3', '4', '5', '6', '7'];
    const eves = addresses.map((address) => job(flow('eve', 'shop', address), 10));
    const outcomes = Promise.allSettled(eves);
    await expect(job(flow('eve', 'shop', '8'), 10)).rejects.toMatchObject({
      name: 'FairShareFull',
    });
    const adas = [job(flow('ada'), 10), job(flow('ada'), 10), job(flow('ada'), 10)];
    await time.pass();
    expect(await Promise.all(adas)).toHaveLength(3);
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(3);
  });

  it('is bounded for a project, where its largest address gives way to its others', async () => {
    const { time, job } = setUp({ maxWaitingPerProject: 3 });
    const crowd = Array.from({ length: 4 }, () => job(flow('eve', 'shop', 'crowd'), 10));
    const outcomes = Promise.allSettled(crowd);
    const visitor = job(flow('eve', 'shop', 'visitor'), 10, 'visitor');
    const second = job(flow('eve', 'shop', 'second'), 10);
    const third = job(flow('eve', 'shop', 'third'), 10);
    await expect(third).rejects.toMatchObject({ name: 'FairShareFull' });
    const elsewhere = job(flow('eve', 'another'), 10, 'elsewhere');
    await time.pass();
    await second;
    expect(await Promise.all([visitor, elsewhere])).toEqual(['visitor', 'elsewhere']);
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(2);
  });

  it('gives way to a new address of the same owner too', async () => {
    const { time, job } = setUp({ maxWaiting: 4 });
    const eves = Array.from({ length: 5 }, () => job(flow('eve', 'shop', 'crowd'), 10));
    const outcomes = Promise.allSettled(eves);
    const visitor = job(flow('eve', 'shop', 'visitor'), 10, 'visitor');
    await time.pass();
    await expect(visitor).resolves.toBe('visitor');
    expect((await outcomes).map(({ status }) => status).at(-1)).toBe('rejected');
  });

  it('is refused for a time that differs by chance', async () => {
    const random = [0, 0.3, 0.6, 0.9];
    const { job } = setUp({ maxWaitingPerFlow: 1, random: () => random.shift() ?? 0 });
    void job(flow('eve'), 10);
    void job(flow('eve'), 10);
    const seconds = [];
    for (let n = 0; n < 4; n++) {
      const error = await job(flow('eve'), 10).catch((reason: FairShareFull) => reason);
      seconds.push(typeof error === 'string' ? error : error.retryAfterSeconds);
    }
    expect(seconds).toEqual([1, 2, 3, 4]);
  });

  it('ends when the caller has gone', async () => {
    const { time, shares, begun, job } = setUp();
    const first = job(flow('ada'), 10);
    const gone = new AbortController();
    const waits = shares.run(flow('eve'), async () => begun.push('gone'), { signal: gone.signal });
    expect(shares.usage().slow.waiting).toBe(1);
    gone.abort(new Error('gone'));
    await expect(waits).rejects.toThrow('gone');
    expect(shares.usage().slow.waiting).toBe(0);
    await expect(
      shares.run(flow('eve'), async () => begun.push('gone'), { signal: gone.signal }),
    ).rejects.toThrow('gone');
    await time.pass();
    await first;
    expect(begun).not.toContain('gone');
  });

  it('remembers nobody who has no work', async () => {
    const { time, shares, job } = setUp({ slots: 3 });
    const jobs = Array.from({ length: 100 }, (_, n) => job(flow(`owner ${n}`), n));
    expect(shares.usage().slow.owners).toHaveLength(100);
    await time.pass();
    await Promise.all(jobs);
    expect(shares.usage().slow).toEqual({
      ...{ slots: 3, running: 0, waiting: 0, refused: 0, owners: [] },
      costMs: 4950,
    });
  });
});

describe('slices', () => {
  it('let others go between two parts of long work, which then goes on', async () => {
    const { time, shares, begun, job } = setUp({ sliceMs: 50 });
    const long = shares.run(flow('eve'), async (yieldSlot) => {
      for (let part = 0; part < 6; part++) {
        begun.push(`part ${part}`);
        await time.sleep(25);
        await yieldSlot();
      }
    });
    const short = job(flow('ada'), 10, 'short');
    await time.pass();
    await Promise.all([long, short]);
    expect(begun).toEqual(['part 0', 'part 1', 'short', ...[2, 3, 4, 5].map((n) => `part ${n}`)]);
  });

  it('move work that was taken for quick to the slow lane', async () => {
    const { time, shares } = setUp({ slots: 1, quickSlots: 1, sliceMs: 50 });
    const long = shares.run(
      flow('eve'),
      async (yieldSlot) => {
        await time.sleep(60);
        await yieldSlot();
        await time.sleep(60);
      },
      { isQuick: true },
    );
    await time.pass(70);
    expect(shares.usage()).toMatchObject({ quick: { running: 0 }, slow: { running: 1 } });
    await time.pass();
    await long;
    expect(shares.usage()).toMatchObject({ quick: { costMs: 60 }, slow: { costMs: 60 } });
  });

  it('end work whose caller has gone, whether it waits or runs', async () => {
    for (const others of [0, 1]) {
      const { time, shares, begun, job } = setUp({ sliceMs: 50 });
      const gone = new AbortController();
      const long = shares.run(
        flow('eve'),
        async (yieldSlot) => {
          for (;;) {
            begun.push('part');
            await time.sleep(60);
            await yieldSlot();
          }
        },
        { signal: gone.signal },
      );
      const ended = expect(long).rejects.toThrow('gone');
      for (let n = 0; n < others; n++) void job(flow('ada'), 1000);
      await time.pass(100);
      gone.abort(new Error('gone'));
      await time.pass();
      await ended;
      expect(begun.filter((entry) => entry === 'part')).toHaveLength(2 - others);
      expect(shares.usage().slow).toMatchObject({ running: 0, waiting: 0 });
    }
  });
});

describe('usage', () => {
  it('tells who uses how much, the most expensive owner first', async () => {
    const { time, shares, busy } = setUp({ slots: 3 });
    busy(flow('cheap'), 15);
    const dear = shares.run(flow('dear'), async (yieldSlot) => {
      await time.sleep(500);
      await yieldSlot();
      await time.sleep(500);
    });
    await time.pass(505);
    expect(shares.usage().slow).toEqual({
      ...{ slots: 3, running: 2, waiting: 3, refused: 0, costMs: 995 },
      owners: [
        { owner: 'dear', running: 1, waiting: 0, costMs: 500 },
        { owner: 'cheap', running: 1, waiting: 3, costMs: 495 },
      ],
    });
    await time.pass(1000);
    await dear;
  });
});

describe('a flow', () => {
  it('is named by owner, project and address; a project without an owner stands alone', () => {
    const ip = '192.0.2.1';
    expect(toFlow({ project: { id: 'shop', ownerId: 'ada' }, ip })).toEqual(['ada', 'shop', ip]);
    expect(toFlow({ project: { id: 'shop', ownerId: null }, ip })).toEqual([
      'project shop',
      'shop',
      ip,
    ]);
  });
});
