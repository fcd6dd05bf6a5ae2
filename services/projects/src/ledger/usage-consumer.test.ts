import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@backlot/bus';
import { createRegistry } from '@backlot/telemetry';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { consumers, creditHistory, deliver, grant, usageEvent } from '../testing/ledger.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('the queue of usage', () => {
  let bed: TestBed;
  let ownerId: string;
  let countersFail = 0;
  const dead: BusEvent[] = [];
  const registry = createRegistry('projects');
  beforeAll(async () => {
    bed = await createTestBed({
      registry,
      onDead: (event) => void dead.push(event),
      counters: (real) => ({
        load: (...values) => real.load(...values),
        reserved: (...values) => real.reserved(...values),
        held: (...values) => real.held(...values),
        async book(...values) {
          if (countersFail-- > 0) throw new Error('counters away');
          await real.book(...values);
        },
      }),
    });
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  beforeEach(async () => {
    ownerId = randomUUID();
    countersFail = 0;
    dead.length = 0;
    await grant(bed, ownerId, 10);
  });

  const readMetric = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get();
    return metric?.values[0]?.value;
  };

  it.each([
    ['nothing', undefined],
    ['a text', 'usage'],
    ['no owner', { ownerId: undefined }],
    ['an owner that is none', { ownerId: 'x' }],
    ['a part of a millicredit', { millicredits: 0.5 }],
    ['a negative amount', { millicredits: -1000 }],
    ['an amount beyond any price', { millicredits: 1e15 }],
    ['no time', { occurredAt: 'yesterday' }],
    ['what PostgreSQL can not keep', { route: 'a\0b' }],
  ])('parks %s, and books the events beside it', async (_what, changes) => {
    const poison =
      typeof changes === 'object' ? { ...usageEvent(bed, ownerId), ...changes } : changes;
    const good = [usageEvent(bed, ownerId), usageEvent(bed, ownerId)];
    await Promise.all([good[0], poison, good[1]].map((payload) => deliver(bed, payload)));
    expect(dead.map(({ payload }) => payload)).toEqual([poison]);
    expect((await creditHistory(bed, ownerId)).balance).toBe(8000);
  });

  it('fails what can not be booked alone, though it shares a transaction', async () => {
    const [consume] = consumers(bed, 1);
    const usages = [0, 1, 2, 3].map((n) =>
      usageEvent(bed, ownerId, n === 2 ? { route: 'a\0b' } : {}),
    );
    const results = await Promise.allSettled(usages.map((usage) => consume?.(usage)));
    expect(results.map((result) => result.status === 'fulfilled')).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect((await creditHistory(bed, ownerId)).balance).toBe(7000);
  });

  it('parks a call that another owner was charged for', async () => {
    const usage = usageEvent(bed, ownerId);
    await deliver(bed, usage);
    const thief = { ...usage, ownerId: randomUUID() };
    await deliver(bed, thief);
    expect(dead.map(({ payload }) => payload)).toEqual([thief]);
    expect((await bed.service.reconcile()).differences).toEqual([]);
  });

  it('notifies the counters again until that succeeds', async () => {
    const usage = usageEvent(bed, ownerId);
    await bed.counters.load(ownerId, 10_000, 1);
    const request = {
      ownerId,
      callId: usage.callId,
      wantMillicredits: 1000,
      minMillicredits: 1000,
    };
    await bed.counters.admit([], request);
    countersFail = 2;
    await deliver(bed, usage);
    expect(await bed.counters.reserved(ownerId)).toBe(0);
  });

  it('keeps a booking whose notification fails, and loads the balance later', async () => {
    await bed.counters.load(ownerId, 10_000, 1);
    const before = (await readMetric('backlot_ledger_notifications_failed_total')) ?? 0;
    countersFail = 5;
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 4000 }));
    expect(dead).toEqual([]);
    expect(await readMetric('backlot_ledger_notifications_failed_total')).toBe(before + 1);
    expect((await creditHistory(bed, ownerId)).balance).toBe(6000);
    await bed.service.maintain();
    const request = { ownerId, callId: 'c', wantMillicredits: 9000, minMillicredits: 1000 };
    expect((await bed.counters.admit([], request)).reservation).toMatchObject({
      millicredits: 6000,
    });
  });

  it('counts what the platform had to pay', async () => {
    const before = (await readMetric('backlot_ledger_corrected_millicredits_total')) ?? 0;
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 12_500 }));
    await until(
      async () =>
        (await readMetric('backlot_ledger_corrected_millicredits_total')) === before + 2500,
    );
  });
});
