import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@backlot/bus';
import { violatedConstraint } from '@backlot/database';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  creditHistory,
  deliver,
  grant,
  kindsAndAmounts,
  sumItems,
  usageEvent,
} from '../testing/ledger.ts';
import { createTestBed, dayMs, type TestBed } from '../testing/test-bed.ts';

describe('ledger', () => {
  let bed: TestBed;
  let ownerId: string;
  const dead: BusEvent[] = [];
  beforeAll(async () => {
    bed = await createTestBed({ onDead: (event) => void dead.push(event) });
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  beforeEach(() => {
    ownerId = randomUUID();
    dead.length = 0;
  });

  const ledgerIsConsistent = async () =>
    expect((await bed.service.reconcile()).differences).toEqual([]);

  it('keeps grants, bookings, expiries and looks at once apart for one owner', async () => {
    await Promise.all(
      Array.from({ length: 16 }, (_, n) => [
        grant(bed, ownerId, 5, n % 4 === 0 ? bed.now() + 1000 : undefined),
        deliver(bed, usageEvent(bed, ownerId)),
        bed.service.maintain(),
        bed.service.loadOwner(ownerId),
      ]).flat(),
    );
    bed.pass(1000);
    await bed.service.maintain();
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(sumItems(items)).toBe(balance);
    expect(items.filter((item) => item.kind === 'debit')).toHaveLength(16);
    expect(items.filter((item) => item.kind === 'grant')).toHaveLength(16);
    await ledgerIsConsistent();
  });

  it('lets no owner wait for another', async () => {
    const other = randomUUID();
    await Promise.all([grant(bed, ownerId, 5), grant(bed, other, 5)]);
    await bed.database.transaction(async () => {
      await bed.database.query('SELECT 1 FROM accounts WHERE owner_id = $1 FOR UPDATE', [other]);
      await bed.database.detached(() => grant(bed, ownerId, 7));
    });
    expect((await creditHistory(bed, ownerId)).balance).toBe(12_000);
  });

  it('refuses to change or remove a line, and a balance below zero, to whoever tries', async () => {
    await grant(bed, ownerId, 5);
    for (const attempt of [
      'UPDATE transfers SET amount_millicredits = 1',
      'DELETE FROM transfers',
      'TRUNCATE transfers',
      'TRUNCATE accounts CASCADE',
    ]) {
      await expect(bed.ownerDatabase.query(attempt)).rejects.toThrow('append-only');
    }
    const below = bed.database.query(
      'UPDATE accounts SET balance_millicredits = -1 WHERE owner_id = $1',
      [ownerId],
    );
    expect(await below.catch(violatedConstraint)).toBe('balance_not_negative');
    await ledgerIsConsistent();
  });

  it('takes back of an expiry what was used before it, however late it is booked', async () => {
    await grant(bed, ownerId, 10, bed.now() + 1000);
    const usage = usageEvent(bed, ownerId, { millicredits: 4000 });
    bed.pass(1000);
    await bed.service.maintain();
    await grant(bed, ownerId, 3);
    await deliver(bed, usage);
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(3000);
    expect(kindsAndAmounts(items)).toEqual([
      ['grant', 10_000],
      ['expiry', -10_000],
      ['grant', 3000],
      ['expiry', 4000],
      ['debit', -4000],
    ]);
    await ledgerIsConsistent();
  });

  it('has no line for what cost nothing, and yet releases its reservation', async () => {
    await grant(bed, ownerId, 1);
    const free = usageEvent(bed, ownerId, { millicredits: 0 });
    await reserve(free.callId, 1000);
    await deliver(bed, free);
    expect((await creditHistory(bed, ownerId)).items).toHaveLength(1);
    expect(await bed.counters.reserved(ownerId)).toBe(0);
  });

  const reserve = async (callId: string, wantMillicredits: number) => {
    await bed.service.loadOwner(ownerId);
    const request = { ownerId, callId, wantMillicredits, minMillicredits: 1000 };
    return (await bed.counters.admit([], request)).reservation;
  };

  it('notifies the counters of a committed booking, and of a grant', async () => {
    await grant(bed, ownerId, 10);
    const usage = usageEvent(bed, ownerId, { millicredits: 2500 });
    await reserve(usage.callId, 4000);
    const identity = await bed.owner(ownerId);
    const shown = await bed.call('GET', '/platform/credits', { identity });
    expect(shown.body).toMatchObject({ balanceMillicredits: 10_000, reservedMillicredits: 4000 });
    await deliver(bed, usage);
    expect(await bed.counters.reserved(ownerId)).toBe(0);
    expect(await reserve(randomUUID(), 1e6)).toEqual({ kind: 'reserved', millicredits: 7500 });
    await grant(bed, ownerId, 2);
    await until(async () => (await reserve(randomUUID(), 2000))?.kind === 'reserved');
  });

  it('warns through the outbox, in the transaction of the booking, once for each share', async () => {
    await grant(bed, ownerId, 100);
    const warnings = () =>
      bed
        .published()
        .filter(({ topic }) => topic === 'credits.low')
        .map(({ payload }) => payload as { ownerId: string })
        .filter((payload) => payload.ownerId === ownerId);
    const usages = Array.from({ length: 100 }, () => usageEvent(bed, ownerId));
    await Promise.all([...usages, ...usages].map((usage) => deliver(bed, usage)));
    await until(() => warnings().length >= 3);
    expect(warnings()).toEqual([
      { ownerId, percent: 80, balanceMillicredits: 20_000 },
      { ownerId, percent: 95, balanceMillicredits: 5000 },
      { ownerId, percent: 100, balanceMillicredits: 0 },
    ]);
  });

  it('expires grants of many owners, each once, by jobs that run at once', async () => {
    const owners = Array.from({ length: 12 }, () => randomUUID());
    const at = bed.now() + dayMs;
    for (const owner of owners) await grant(bed, owner, 4, at);
    bed.pass(dayMs - 1);
    await bed.service.maintain();
    expect((await creditHistory(bed, owners[0] ?? '')).balance).toBe(4000);
    bed.pass(1);
    await Promise.all([bed.service.maintain(), bed.service.maintain(), bed.service.maintain()]);
    for (const owner of owners) {
      const { items } = await creditHistory(bed, owner);
      expect(kindsAndAmounts(items)).toEqual([
        ['grant', 4000],
        ['expiry', -4000],
      ]);
    }
    await ledgerIsConsistent();
  });

  it('lets an account that can not be brought up to date hold no other up', async () => {
    const owners = [randomUUID(), randomUUID(), randomUUID()];
    const at = bed.now() + 1000;
    for (const owner of owners) await grant(bed, owner, 4, at);
    const setBalance = (balance: number) =>
      bed.database.query('UPDATE accounts SET balance_millicredits = $2 WHERE owner_id = $1', [
        owners[1],
        balance,
      ]);
    await setBalance(1);
    bed.pass(1000);
    await bed.service.maintain();
    expect((await creditHistory(bed, owners[2] ?? '')).balance).toBe(0);
    await setBalance(4000);
    await bed.service.maintain();
    expect((await creditHistory(bed, owners[1] ?? '')).balance).toBe(0);
    await ledgerIsConsistent();
  });
});
