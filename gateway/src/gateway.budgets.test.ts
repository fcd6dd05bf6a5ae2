import type { BudgetRefusal, ProjectSettings } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls } from './testing/priced-calls.ts';
import { ownerId, projectSnapshot, userId } from './testing/test-bed.ts';

describe('budgets at the gateway', () => {
  const { served, service, start, think, bed, close } = createPricedCalls();
  afterEach(close);

  let noted: BudgetRefusal[];
  let failNote: boolean;
  /** An owner with 100 credits for the month; the first proxy writes the visitor's address. */
  const given = async (settings: ProjectSettings = {}) => {
    noted = [];
    failNote = false;
    const counters = createMemoryCounters(Date.now);
    await start(
      0,
      {
        service: service((send) => send(200, 1000)),
        config: { trustedProxies: 1 },
        deps: {
          counters,
          credits: {
            loadOwner: (owner, project) =>
              counters.load(owner, 100_000, 1, {
                monthMillicredits: 100_000,
                used: (project?.periods ?? []).map((period) => ({
                  name: String(project?.projectNumber),
                  period,
                  millicredits: 0,
                })),
              }),
            async noteRefusal(_owner, refusal) {
              if (failNote) throw new Error('down');
              noted.push(refusal);
            },
          },
        },
      },
      settings,
    );
    return counters;
  };
  const from = (address: string, token?: string) =>
    think(undefined, {
      headers: { 'x-forwarded-for': address },
      ...(token !== undefined && { token }),
    });
  const times = (count: number, call: () => ReturnType<typeof think>) =>
    Promise.all(Array.from({ length: count }, call));
  const passed = (answers: Awaited<ReturnType<typeof think>>[]) =>
    answers.filter(({ status }) => status === 200).length;
  const codes = (answers: Awaited<ReturnType<typeof think>>[]) =>
    [...new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`))].sort();

  it('let one visitor take a twenty-fifth of the owner’s month a day, all visitors a fifth', async () => {
    const counters = await given();
    const first = await times(12, () => from('192.0.2.1'));
    expect([passed(first), codes(first)]).toEqual([4, ['200 ', '429 visitor_budget']]);
    for (let n = 2; n < 9; n++) await times(6, () => from(`192.0.2.${n}`));
    expect(served).toHaveLength(20);
    const late = await from('192.0.2.99');
    expect(late).toMatchObject({ status: 429, body: { code: 'visitor_budget' } });
    expect(late.body.hint).toContain('visitorCreditsPerDay');
    expect(Number(late.headers.get('retry-after'))).toBeLessThanOrEqual(24 * 3600);
    expect(await counters.reserved(ownerId)).toBe(20_000);
  });

  it('count an IPv6 visitor by their /64', async () => {
    await given();
    for (let n = 0; n < 6; n++) await from(`2001:db8::${n}`);
    expect(served).toHaveLength(4);
    expect((await from('2001:db8:0:1::1')).status).toBe(200);
  });

  it('begin anew at midnight UTC', async () => {
    await given();
    await times(6, () => from('192.0.2.1'));
    bed().clock.now += 24 * 3600_000;
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  it.each([
    [{}, 4000, 'visitors'],
    [{ aiPerVisitorPerDay: 50, visitorCreditsPerDay: 50, creditsPerDay: 3 }, 3000, 'project'],
    [{ aiPerVisitorPerDay: 50, visitorCreditsPerDay: 50 }, 9000, undefined],
  ] as const)('%j let a call of 9 credits have %i millicredits, bound by %s', async (...row) => {
    const [settings, millicredits, boundBy] = row;
    await given(settings);
    await think({ most: 9000 });
    expect(served.map(({ reservation }) => reservation)).toMatchObject([
      { millicredits, ...(boundBy && { boundBy }) },
    ]);
    expect(served[0]?.reservation?.boundBy).toBe(boundBy);
  });

  it('treat accounts without a verified address as visitors of their network address', async () => {
    await given();
    bed().fake.session = { role: 'user', groups: [], emailVerified: false };
    const account = (n: number) =>
      bed().token({ sub: `018f0000-0000-7000-8000-0000000000${n}`, sid: `s${n}` });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => from('192.0.2.1', account(10 + n))),
    );
    expect([passed(answers), codes(answers)]).toEqual([4, ['200 ', '429 visitor_budget']]);
    expect((await from('192.0.2.1')).status).toBe(429);
  });

  it('give a verified user a day of their own, and all of an address one such day', async () => {
    await given();
    await times(6, () => from('192.0.2.1'));
    bed().fake.session = { role: 'user', groups: [], emailVerified: true };
    const answers = await times(25, () => from('192.0.2.1', bed().token()));
    expect(passed(answers)).toBe(20);
    const other = bed().token({ sub: '018f0000-0000-7000-8000-0000000000cc', sid: 's2' });
    expect((await from('192.0.2.1', other)).status).toBe(429);
    expect((await from('192.0.2.7', other)).status).toBe(200);
  });

  it('know within a call that a user has verified their address', async () => {
    await given();
    bed().fake.session = { role: 'user', groups: [], emailVerified: false };
    const token = bed().token();
    const answers = await times(6, () => from('192.0.2.1', token));
    expect(passed(answers)).toBe(4);
    bed().fake.session = { role: 'user', groups: [], emailVerified: true };
    await bed().publish('user.verified', { projectNumber: 1001, userId, email: 'a@example.org' });
    expect((await from('192.0.2.1', token)).status).toBe(200);
  });

  it('are what the owner sets, for one visitor and for all', async () => {
    await given({ aiPerVisitorPerDay: 2, visitorCreditsPerDay: 5 });
    for (let n = 1; n < 5; n++) await times(4, () => from(`192.0.2.${n}`));
    expect(served).toHaveLength(5);
  });

  it('refuse all where the owner sets 0, and say what to set', async () => {
    await given({ aiPerVisitorPerDay: 0 });
    expect(await from('192.0.2.1')).toMatchObject({
      status: 429,
      body: { code: 'visitor_budget', hint: expect.stringContaining('aiPerVisitorPerDay') },
    });
  });

  it('of a project are 402 that name it, and leave the owner’s other projects alone', async () => {
    await given({ creditsPerMonth: 3, aiPerVisitorPerDay: 50 });
    const answers = await times(9, () => from('192.0.2.1'));
    expect([passed(answers), codes(answers)]).toEqual([3, ['200 ', '402 project_budget']]);
    const { body } = await from('192.0.2.1');
    expect(body.error).toContain('"demo"');
    expect(body.hint).toContain('creditsPerMonth');
    bed().fake.projects.set('second', projectSnapshot({ id: 'second', number: 1005 }));
    expect((await bed().call('POST', '/api/runtime/second/ai', { body: {} })).status).toBe(200);
  });

  it('have the owner told once of each kind and day, with who it was', async () => {
    await given();
    await times(20, () => from('192.0.2.1'));
    await times(20, () => from('192.0.2.2'));
    await until(() => noted.length > 0);
    expect(noted).toEqual([
      {
        projectId: 'demo',
        projectNumber: 1001,
        kind: 'visitors',
        address: '192.0.2.1',
        route: 'POST /ai',
      },
    ]);
    bed().clock.now += 24 * 3600_000;
    await times(20, () => from('192.0.2.1'));
    await until(() => noted.length === 2);
  });

  it('have the owner told by a later refusal where the first could not', async () => {
    await given();
    failNote = true;
    await times(6, () => from('192.0.2.1'));
    failNote = false;
    await until(async () => {
      await from('192.0.2.1');
      return noted.length === 1;
    });
  });
});

describe('the setting callers', () => {
  const { served, service, start, think, bed, close } = createPricedCalls();
  afterEach(close);

  it.each([
    [undefined, 200, 200, 200, 200],
    [['anyone'], 200, 200, 200, 200],
    [['users'], 401, 403, 200, 200],
    [['role:user'], 401, 200, 200, 403],
    [['role:member'], 401, 403, 403, 200],
    [['role:member', 'users'], 401, 403, 200, 200],
    [[], 403, 403, 403, 403],
  ])('%j: a visitor gets %i, a guest %i, a user %i, a member %i', async (ai, ...expected) => {
    const settings = { aiPerVisitorPerDay: 100, visitorCreditsPerDay: 100, callers: ai && { ai } };
    const counters = await start(
      50_000,
      { service: service((send) => send(200, 1000)) },
      settings as ProjectSettings,
    );
    const statuses = [(await think()).status];
    bed().fake.session = { role: 'user', groups: [], emailVerified: false, isGuest: true };
    const asGuest = bed().token({ sub: '018f0000-0000-7000-8000-0000000000dd', sid: 's3' });
    statuses.push((await think(undefined, { token: asGuest })).status);
    bed().fake.session = { role: 'user', groups: [], emailVerified: true };
    statuses.push((await think(undefined, { token: bed().token() })).status);
    bed().fake.session = { role: 'member', groups: [] };
    const token = bed().token({ sub: '018f0000-0000-7000-8000-0000000000cc', sid: 's2' });
    const last = await think(undefined, { token });
    statuses.push(last.status);
    expect(statuses).toEqual(expected);
    if (last.status === 403) expect(last.body.hint).toContain('callers.ai');
    expect(await counters.reserved(ownerId)).toBe(served.length * 1000);
  });

  it('of another kind of calls keeps nobody out', async () => {
    const settings = { aiPerVisitorPerDay: 100, callers: { email: [], uploads: [] } };
    await start(50_000, { service: service((send) => send(200, 1000)) }, settings);
    expect((await think()).status).toBe(200);
  });
});
