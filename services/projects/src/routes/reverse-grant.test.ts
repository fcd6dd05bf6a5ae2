import { randomUUID } from 'node:crypto';
import { creditRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  creditHistory,
  deliver,
  kindsAndAmounts,
  sumItems,
  usageEvent,
} from '../testing/ledger.ts';
import { createTestBed, dayMs, type TestBed } from '../testing/test-bed.ts';

describe('reverseGrant', () => {
  let bed: TestBed;
  let ownerId: string;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    ownerId = randomUUID();
  });
  refusesStrangers(
    creditRoutes.reverseGrant,
    () => bed.http,
    () => ({ path: `/credits/grants/${randomUUID()}/reverse`, body: { reason: 'Mine' } }),
  );

  const grant = async (credits: number, expiresAt?: string) => {
    const body = { ownerId, credits, reason: 'Sorry', ...(expiresAt && { expiresAt }) };
    const identity = await bed.operator();
    const answer = await bed.call('POST', '/platform/credits/grants', { identity, body });
    return String(answer.body.id);
  };
  const reverse = async (id: string, body: unknown = { reason: 'Granted to the wrong one' }) =>
    bed.call('POST', `/platform/credits/grants/${id}/reverse`, {
      identity: await bed.operator(),
      body,
    });

  it('takes back what is left, by a line that names the grant, and leaves what was spent', async () => {
    const id = await grant(10);
    const other = await grant(3);
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 4000 }));
    const { status, body } = await reverse(id.toUpperCase());
    expect(status).toBe(201);
    expect(body).toEqual({
      grantId: id,
      ownerId,
      reason: 'Granted to the wrong one',
      reversedMillicredits: 6000,
      spentMillicredits: 4000,
      balanceMillicredits: 3000,
    });
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(3000);
    expect(sumItems(items)).toBe(3000);
    expect(items.at(-1)).toMatchObject({
      kind: 'correction',
      amountMillicredits: -6000,
      grantId: id,
      reason: 'Granted to the wrong one',
    });
    expect(items[1]).toMatchObject({ kind: 'grant', grantId: other, reason: 'Sorry' });
    expect((await bed.service.loadOwner(ownerId)).balanceMillicredits).toBe(3000);
    const { differences } = await bed.service.reconcile();
    expect(differences.filter((one) => one.ownerId === ownerId)).toEqual([]);
  });

  it('is done once, of many at the same time too', async () => {
    const id = await grant(10);
    const answers = await Promise.all(Array.from({ length: 12 }, () => reverse(id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter(({ status }) => status !== 201))
      expect([status, body.code, body.error]).toEqual([
        409,
        'conflict',
        'This grant has been reversed before.',
      ]);
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(0);
    expect(kindsAndAmounts(items)).toEqual([
      ['grant', 10_000],
      ['correction', -10_000],
    ]);
  });

  it('never takes the balance below zero while calls are booked beside it', async () => {
    const id = await grant(10);
    const usages = Array.from({ length: 20 }, () => usageEvent(bed, ownerId));
    const [{ status, body }] = await Promise.all([
      reverse(id),
      ...usages.map((usage) => deliver(bed, usage)),
    ]);
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(0);
    expect(sumItems(items)).toBe(0);
    expect(items.filter(({ kind }) => kind === 'debit')).toHaveLength(20);
    expect([201, 409]).toContain(status);
    if (status === 201) expect(body.reversedMillicredits + body.spentMillicredits).toBe(10_000);
    const { differences } = await bed.service.reconcile();
    expect(differences.filter((one) => one.ownerId === ownerId)).toEqual([]);
  });

  it('says by name that nothing is left, of what was spent and of what has expired', async () => {
    const spent = await grant(1);
    await deliver(bed, usageEvent(bed, ownerId));
    const expiring = await grant(5, new Date(bed.now() + dayMs).toISOString());
    bed.pass(2 * dayMs);
    for (const id of [spent, expiring]) {
      const { status, body } = await reverse(id);
      expect([status, body.code]).toEqual([409, 'conflict']);
      expect(body.error).toContain('Nothing is left of this grant');
    }
    for (const id of [randomUUID(), 'nothing', '%00'])
      expect((await reverse(id)).status).toBeGreaterThanOrEqual(400);
    expect(await reverse(randomUUID())).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await reverse(spent, {})).toMatchObject({ status: 400 });
    expect(await reverse(spent, { reason: '' })).toMatchObject({ status: 400 });
  });
});
