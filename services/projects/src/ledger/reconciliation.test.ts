import { randomUUID } from 'node:crypto';
import { createRegistry } from '@backlot/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { consumers, grant, usageEvent } from '../testing/ledger.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('reconciliation', () => {
  let bed: TestBed;
  let ownerId: string;
  const registry = createRegistry('projects');
  beforeAll(async () => {
    bed = await createTestBed({ registry });
    // More owners than are read at once.
    await bed.database.query(
      `INSERT INTO accounts (kind, owner_id, created_at) SELECT 'owner', gen_random_uuid(), now() FROM generate_series(1, 230)`,
    );
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    ownerId = randomUUID();
    await grant(bed, ownerId, 10);
    for (const consume of consumers(bed, 3)) await consume(usageEvent(bed, ownerId));
  });

  const account = '(SELECT number FROM accounts WHERE owner_id = $1)';
  const plant = (statement: string) =>
    bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query('ALTER TABLE transfers DISABLE TRIGGER transfers_append_only');
      await bed.ownerDatabase.query(statement, [ownerId]);
      await bed.ownerDatabase.query('ALTER TABLE transfers ENABLE TRIGGER transfers_append_only');
    });
  const gauge = async () => {
    const metric = await registry.getSingleMetric('backlot_ledger_differences')?.get();
    return Object.fromEntries(
      (metric?.values ?? []).map(({ labels, value }) => [labels.kind, value]),
    );
  };
  const nothing = { lines: 0, balance: 0, grants: 0, held: 0 };

  it('finds nothing where nothing is wrong, over all owners', async () => {
    const { owners, counts, differences } = await bed.service.reconcile();
    expect(owners).toBeGreaterThan(230);
    expect({ counts, differences }).toEqual({ counts: nothing, differences: [] });
    expect(await gauge()).toEqual(nothing);
  });

  it.each([
    [
      'a balance that was changed',
      'UPDATE accounts SET balance_millicredits = 7001 WHERE owner_id = $1',
      'UPDATE accounts SET balance_millicredits = 7000 WHERE owner_id = $1',
      { balance: [7001, 7000], grants: [7001, 7000] },
    ],
    [
      'a line that was removed',
      `UPDATE transfers SET seq = seq + 100 WHERE seq = 3 AND owner_account = ${account}`,
      `UPDATE transfers SET seq = seq - 100 WHERE seq = 103 AND owner_account = ${account}`,
      { lines: [4, 3], balance: [7000, 8000] },
    ],
    [
      'a line that was altered',
      `UPDATE transfers SET amount_millicredits = 999 WHERE seq = 2 AND owner_account = ${account}`,
      `UPDATE transfers SET amount_millicredits = 1000 WHERE seq = 2 AND owner_account = ${account}`,
      { balance: [7000, 7001] },
    ],
    [
      'a grant that was spent without a line',
      `UPDATE grants SET remaining_millicredits = 5000 WHERE owner_account = ${account}`,
      `UPDATE grants SET remaining_millicredits = 7000 WHERE owner_account = ${account}`,
      { grants: [7000, 5000] },
    ],
  ])('finds %s, and nothing any more once it is set right', async (_what, wrong, right, found) => {
    await plant(wrong);
    const { differences } = await bed.service.reconcile();
    expect(differences).toEqual(
      Object.entries(found).map(([kind, [expected, actual]]) => ({
        ownerId,
        kind,
        expected,
        found: actual,
      })),
    );
    expect(await gauge()).toEqual({
      ...nothing,
      ...Object.fromEntries(Object.keys(found).map((kind) => [kind, 1])),
    });
    await plant(right);
    expect((await bed.service.reconcile()).differences).toEqual([]);
    expect(await gauge()).toEqual(nothing);
  });

  it('lets go of credits that are held for a booked call, and reports one booked long ago', async () => {
    await bed.service.loadOwner(ownerId);
    const usage = usageEvent(bed, ownerId);
    await consumers(bed, 1)[0]?.(usage);
    const hold = (callId: string) =>
      bed.counters.admit([], {
        ownerId,
        callId,
        wantMillicredits: 1000,
        minMillicredits: 1000,
      });
    await hold(usage.callId);
    await hold(randomUUID());
    expect((await bed.service.reconcile()).differences).toEqual([]);
    expect(await bed.counters.reserved(ownerId)).toBe(1000);
    await hold(usage.callId);
    bed.pass(60_000);
    expect((await bed.service.reconcile()).differences).toEqual([
      { ownerId, kind: 'held', expected: 0, found: 1000 },
    ]);
    expect(await bed.counters.reserved(ownerId)).toBe(1000);
    expect((await bed.service.reconcile()).differences).toEqual([]);
  });

  it('is not misled by bookings that go on meanwhile', async () => {
    const consume = consumers(bed, 4);
    let done = false;
    const bookings = Promise.all(
      Array.from({ length: 120 }, (_, n) => consume[n % 4]?.(usageEvent(bed, ownerId))),
    ).finally(() => {
      done = true;
    });
    let runs = 0;
    while (!done) {
      expect((await bed.service.reconcile()).differences).toEqual([]);
      runs++;
    }
    await bookings;
    expect(runs).toBeGreaterThan(0);
  });

  it('is done by one of many processes in an interval, and the others show what it found', async () => {
    bed.pass(300_000);
    const runs = await Promise.all(Array.from({ length: 8 }, () => bed.service.reconcileInTurn()));
    expect(runs.filter((run) => run !== undefined)).toHaveLength(1);
    const wrong = `UPDATE grants SET remaining_millicredits = 5000 WHERE owner_account = ${account}`;
    const right = `UPDATE grants SET remaining_millicredits = 7000 WHERE owner_account = ${account}`;
    await plant(wrong);
    bed.pass(300_000);
    expect((await bed.service.reconcileInTurn())?.counts).toEqual({ ...nothing, grants: 1 });
    await plant(right);
    await bed.service.reconcile();
    expect(await gauge()).toEqual(nothing);
    expect(await bed.service.reconcileInTurn()).toBeUndefined();
    expect(await gauge()).toEqual({ ...nothing, grants: 1 });
    bed.pass(300_000);
    expect((await bed.service.reconcileInTurn())?.counts).toEqual(nothing);
  });

  it('reads a line once, and all of them again after a day or where something differs', async () => {
    await bed.service.reconcile();
    expect(await bed.service.reconcile()).toMatchObject({ lines: 0, differences: [] });
    await consumers(bed, 1)[0]?.(usageEvent(bed, ownerId));
    expect(await bed.service.reconcile()).toMatchObject({ lines: 1, differences: [] });

    // In what was found right before.
    await plant(
      `UPDATE transfers SET amount_millicredits = 999 WHERE seq = 2 AND owner_account = ${account}`,
    );
    const found = [{ ownerId, kind: 'balance', expected: 6000, found: 6001 }];
    expect(await bed.service.reconcile()).toMatchObject({ lines: 0, differences: [] });
    bed.pass(24 * 3600 * 1000);
    expect((await bed.service.reconcile()).differences).toEqual(found);
    expect(await bed.service.reconcile()).toMatchObject({ lines: 5, differences: found });
    await plant(
      `UPDATE transfers SET amount_millicredits = 1000 WHERE seq = 2 AND owner_account = ${account}`,
    );
    expect(await bed.service.reconcile()).toMatchObject({ lines: 5, differences: [] });
    expect(await bed.service.reconcile()).toMatchObject({ lines: 0, differences: [] });
  });
});
