import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toRequester } from './index.ts';
import { requester, setUp } from './testing/shares-under-test.ts';

describe('slots', () => {
  it('are never more than a third of one owner, and always one', async () => {
    for (const [slots, most] of [
      [1, 1],
      [5, 1],
      [6, 2],
      [9, 3],
    ] as const) {
      const { time, shares, begun, job } = setUp({ slots });
      const jobs = Array.from({ length: 12 }, (_, n) => job(requester('eve', `${n}`), 10));
      await time.pass(5);
      expect(begun).toHaveLength(most);
      expect(shares.usage().slow).toMatchObject({ running: most, waiting: 12 - most });
      await time.pass();
      await Promise.all(jobs);
    }
  });

  it('are bounded for a project and for an address too, and who is at a bound holds up nobody else', async () => {
    const { time, shares, begun, job } = setUp({
      slots: 12,
      maxRunningPerOwner: 6,
      maxRunningPerProject: 4,
      maxRunningPerRequester: 2,
    });
    const wanted = [
      ...Array.from({ length: 8 }, () => requester('eve', 'shop', '192.0.2.1')),
      ...Array.from({ length: 8 }, () => requester('eve', 'shop', '192.0.2.2')),
      ...Array.from({ length: 8 }, () => requester('eve', 'shop', '192.0.2.3')),
      ...Array.from({ length: 8 }, () => requester('eve', 'blog', '192.0.2.1')),
      requester('ada'),
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

  it('are bounded for an address whatever accounts it has, and who is at that bound holds up nobody else', async () => {
    const { time, shares, begun, job } = setUp({ slots: 12, maxRunningPerAddress: 2 });
    const jobs = Array.from({ length: 20 }, (_, n) =>
      job(requester(`eve ${n}`, 'shop', 'crowded'), 10),
    );
    jobs.push(job(requester('ada', 'shop', 'calm'), 10));
    await time.pass(5);
    expect(begun).toEqual(['eve 0 shop crowded', 'eve 1 shop crowded', 'ada shop calm']);
    await time.pass();
    await Promise.all(jobs);
    expect(begun).toHaveLength(21);
    expect(shares.usage().slow).toMatchObject({ running: 0, waiting: 0 });
  });

  it('can be taken for what is held, until they are given back, once', async () => {
    const { time, shares, begun, job } = setUp({ maxWaitingPerRequester: 1 });
    const release = await shares.take(requester('eve'));
    const waiting = job(requester('eve'), 10);
    await expect(shares.take(requester('eve'))).rejects.toMatchObject({ name: 'FairShareFull' });
    const further = shares.take(requester('eve'), { continues: true });
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
    const jobs = Array.from({ length: 3 }, () => job(requester('eve'), 10));
    await time.pass(5);
    expect(begun).toHaveLength(2);
    await time.pass();
    await Promise.all(jobs);
  });

  it('come back from work that fails, with its error', async () => {
    const { shares, job, time } = setUp();
    for (let n = 0; n < 5; n++) {
      const failing = shares.run(requester('ada'), () => Promise.reject(new Error('no')));
      await expect(failing).rejects.toThrow('no');
    }
    const fine = job(requester('ada'), 1, 'fine');
    await time.pass();
    await expect(fine).resolves.toBe('fine');
    expect(shares.usage().slow).toMatchObject({ running: 0, owners: [] });
  });

  it('rest after their work while several wait, and not for one alone', async () => {
    const { time, begun, job } = setUp({ restRatio: 1, maxRunningPerOwner: 1 });
    const jobs = ['a', 'b', 'c', 'd'].map((owner) => job(requester(owner), 10));
    await time.pass(19);
    expect(begun).toHaveLength(1);
    await time.pass(2);
    expect(begun).toHaveLength(2);
    await time.pass(29);
    expect(begun).toHaveLength(4);
    await time.pass();
    await Promise.all(jobs);
  });

  it('rest for 100 ms at most', async () => {
    const { time, begun, job } = setUp({ restRatio: 1 });
    const jobs = ['a', 'b', 'c'].map((owner) => job(requester(owner), 5000));
    await time.pass(5099);
    expect(begun).toHaveLength(1);
    await time.pass(2);
    expect(begun).toHaveLength(2);
    await time.pass();
    await Promise.all(jobs);
  });

  it('for quick work are out of reach for the rest', async () => {
    const { time, shares, begun, busy } = setUp({ slots: 3, quickSlots: 1 });
    for (const owner of ['a', 'b', 'c', 'd']) busy(requester(owner), 1000);
    await time.pass(100);
    void shares.run(requester('ada'), async () => begun.push('quick'), { isQuick: true });
    await time.pass(1);
    expect(begun.at(-1)).toBe('quick');
  });
});

describe('shares', () => {
  it('are equal in cost, not in number, between owners', async () => {
    const { time, busy, count } = setUp();
    busy(requester('cheap'), 10);
    busy(requester('dear'), 100);
    await time.pass(20_000);
    const ratio = count('cheap shop 192.0.2.1') / count('dear shop 192.0.2.1');
    expect(ratio).toBeGreaterThan(9);
    expect(ratio).toBeLessThan(11);
  });

  it('of an owner do not grow with projects and addresses, those of a project not with addresses', async () => {
    const { time, busy, count, begun } = setUp();
    busy(requester('one'), 10);
    for (let n = 0; n < 5; n++) busy(requester('many', `project ${n}`), 10);
    for (let n = 0; n < 5; n++) busy(requester('mixed', 'crowded', `address ${n}`), 10);
    busy(requester('mixed', 'calm', 'address'), 10);
    await time.pass(30_000);
    const share = (prefix: string) =>
      begun.filter((entry) => entry.startsWith(prefix)).length / begun.length;
    expect(count('one shop 192.0.2.1') / begun.length).toBeCloseTo(1 / 3, 1);
    expect(share('many')).toBeCloseTo(1 / 3, 1);
    expect(share('mixed crowded')).toBeCloseTo(1 / 6, 1);
    expect(share('mixed calm')).toBeCloseTo(1 / 6, 1);
    for (let n = 0; n < 5; n++) expect(share(`many project ${n}`)).toBeCloseTo(1 / 15, 1);
  });

  it('of an address do not grow with owners: accounts are free', async () => {
    const { time, busy, count, begun } = setUp();
    for (let n = 0; n < 20; n++) busy(requester(`eve ${n}`, 'shop', 'crowded'), 10);
    busy(requester('ada', 'shop', 'calm'), 10);
    await time.pass(30_000);
    expect(count('ada shop calm') / begun.length).toBeCloseTo(1 / 4, 1);
    expect(count('eve 7 shop crowded') / begun.length).toBeCloseTo(3 / 4 / 20, 2);
  });

  it('go to an address that had little, before one with much, however many owners it has', async () => {
    const { time, busy, job } = setUp();
    for (let n = 0; n < 20; n++) busy(requester(`eve ${n}`, 'shop', 'crowded'), 10);
    await time.pass(10_000);
    const from = time.now();
    await Promise.all([
      job(requester('ada', 'shop', 'calm'), 10).then(() =>
        expect(time.now() - from).toBeLessThan(21),
      ),
      time.pass(1000),
    ]);
  });

  it('starve no address beside many that each stay below a quarter', async () => {
    const { time, busy, count, begun } = setUp();
    for (let n = 0; n < 8; n++) busy(requester(`eve ${n}`, 'shop', `address ${n}`), 10);
    for (let n = 0; n < 8; n++) busy(requester(`ada ${n}`, 'shop', 'school'), 10);
    await time.pass(30_000);
    const school = begun.filter((entry) => entry.endsWith('school')).length / begun.length;
    expect(school).toBeGreaterThan(0.2);
    expect(count('ada 3 shop school')).toBeGreaterThan(0);
  });

  it('begin at the present: who was idle goes next, but is owed nothing for it', async () => {
    const { time, begun, busy } = setUp();
    busy(requester('eve'), 10);
    busy(requester('mallory'), 10);
    await time.pass(10_000);
    begun.length = 0;
    busy(requester('ada'), 10);
    await time.pass(30);
    expect(begun).toContain('ada shop 192.0.2.1');
    await time.pass(600);
    const adas = begun.filter((entry) => entry.startsWith('ada')).length;
    expect(adas / begun.length).toBeCloseTo(1 / 3, 1);
  });

  it('are not renewed by a pause', async () => {
    const { time, begun, busy, job } = setUp();
    busy(requester('ada'), 10);
    const pausing = async (): Promise<void> => {
      await job(requester('eve'), 100);
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
      await job(requester('eve', 'shop', `address ${n}`), 10);
      return newcomers();
    };
    for (let loop = 0; loop < 5; loop++) void newcomers();
    void job(requester('eve', 'shop', 'ada'), 100);
    void job(requester('eve', 'shop', 'ada'), 100, 'again');
    await time.pass(20_000);
    expect(begun).toContain('again');
  });

  it('starve nobody, whatever the others do', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const calls = fc.array(
      fc.record({ requester: fc.tuple(key, key, key), at: fc.nat(500), ms: fc.nat(200) }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(
        calls,
        key,
        fc.integer({ min: 1, max: 7 }),
        async (all, mallorysAddress, slots) => {
          const { time, busy, job, begun, shares } = setUp({ slots, maxWaitingPerRequester: 100 });
          busy(requester('eve'), 100);
          busy(requester('mallory', 'shop', mallorysAddress), 7);
          let done = 0;
          for (const { requester: whose, at, ms } of all) {
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
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('work that waits for others', () => {
  const setUpLocks = (maxLent: number) => {
    const shares = setUp({ maxLent, restRatio: 1 });
    const releases: (() => void)[] = [];
    const wait = (owner: string) =>
      shares.shares.run(
        requester(owner),
        () => new Promise<void>((resolve) => releases.push(resolve)),
      );
    const release = () => {
      for (const each of releases.splice(0)) each();
    };
    return { ...shares, wait, release };
  };

  it('lends its slot to others, and none to its owner', async () => {
    const { time, begun, job, wait, release, shares } = setUpLocks(1);
    const waits = wait('eve');
    const jobs = [job(requester('eve'), 10), job(requester('ada'), 10)];
    await time.pass(99);
    expect(begun).toEqual([]);
    await time.pass(1000);
    expect(begun).toEqual(['ada shop 192.0.2.1']);
    release();
    await time.pass();
    await Promise.all([waits, ...jobs]);
    expect(begun).toHaveLength(2);
    expect(shares.usage().slow).toMatchObject({ running: 0, waiting: 0, costMs: 120 });
  });

  it('lends so many at once, and again once one of them has ended', async () => {
    const { time, begun, job, wait, release } = setUpLocks(1);
    const first = wait('eve');
    await time.pass(200);
    const second = wait('mallory');
    const jobs = [job(requester('ada'), 10)];
    await time.pass(1000);
    expect(begun).toEqual([]);
    release();
    await time.pass(1000);
    await Promise.all([first, second, ...jobs]);
    const third = wait('eve');
    jobs.push(job(requester('ada'), 10));
    await time.pass(1000);
    expect(begun).toHaveLength(2);
    release();
    await Promise.all([third, ...jobs]);
  });
});

describe('usage', () => {
  it('tells who uses how much, the most expensive owner first', async () => {
    const { time, shares, busy } = setUp({ slots: 3 });
    busy(requester('cheap'), 15);
    const dear = shares.run(requester('dear'), async (yieldSlot) => {
      await time.sleep(500);
      await yieldSlot();
      await time.sleep(500);
    });
    await time.pass(505);
    expect(shares.usage().slow).toEqual({
      slots: 3,
      running: 2,
      waiting: 3,
      refused: 0,
      costMs: 995,
      owners: [
        { owner: 'dear', running: 1, waiting: 0, costMs: 500 },
        { owner: 'cheap', running: 1, waiting: 3, costMs: 495 },
      ],
    });
    await time.pass(1000);
    await dear;
  });
});

describe('a requester', () => {
  it('is named by owner, project and address; a project without an owner stands alone', () => {
    const ip = '192.0.2.1';
    expect(toRequester({ project: { id: 'shop', ownerId: 'ada' }, ip })).toEqual([
      'ada',
      'shop',
      ip,
    ]);
    expect(toRequester({ project: { id: 'shop', ownerId: null }, ip })).toEqual([
      'project shop',
      'shop',
      ip,
    ]);
  });
});
