import { until } from '@backlot/testing';
import type { Answer, Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type PlatformUnderTest,
  platformUnderTest,
  upstreamModes,
} from './platform-under-test.ts';

interface LedgerLine {
  kind: string;
  amountMillicredits: number;
}

describe.each(upstreamModes)('credits of an owner, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: { id: string; owner: Account; api: Api };
  beforeAll(async () => {
    platform = await platformUnderTest(mode, {
      BACKLOT_MONTHLY_CREDITS: '20',
      BACKLOT_PRICES: JSON.stringify({ sendEmail: 400 }),
    });
    project = await platform.newProject();
    await platform.control('PATCH', `/projects/${project.id}`, {
      token: project.owner.token,
      body: { settings: { aiPerVisitorPerDay: 1000, visitorCreditsPerDay: 1000 } },
    });
    const wide = { perCaller: 10_000, perProject: 10_000 };
    await platform.control('PUT', `/projects/${project.id}/limits`, {
      token: platform.operatorToken,
      body: { ai: wide },
    });
  });
  afterAll(() => platform.stop());

  const think = (headers: Record<string, string> = {}): Promise<Answer> =>
    project.api('POST', '/ai', {
      body: { messages: [{ role: 'user', content: 'Hello' }], maxTokens: 200 },
      headers,
    });
  const account = async () =>
    (await platform.control('GET', '/credits?limit=1000', { token: project.owner.token })).body;
  const debits = async () =>
    (await account()).items.filter(({ kind }: LedgerLine) => kind === 'debit') as LedgerLine[];

  it('answers by the demo model, says so, and books the call once', async () => {
    const answer = await think();
    expect(answer.status).toBe(200);
    expect(answer.body.text).toMatch(/demo/i);
    await until(async () => (await debits()).length === 1);
    await until(async () => (await account()).reservedMillicredits === 0);
    expect(await account()).toMatchObject({ balanceMillicredits: 19_000 });
  });

  it('replays a repeated Idempotency-Key without charging it again', async () => {
    const first = await think({ 'Idempotency-Key': 'once' });
    const second = await think({ 'Idempotency-Key': 'once' });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    await until(async () => (await account()).reservedMillicredits === 0);
    expect(await debits()).toHaveLength(2);
  });

  it('charges nothing for a call that is refused', async () => {
    const answer = await project.api('POST', '/ai', { body: { messages: [] } });
    expect(answer.status).toBe(400);
    await until(async () => (await account()).reservedMillicredits === 0);
    expect(await debits()).toHaveLength(2);
  });

  it('lets exactly what is left through, and the books add up', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => think()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(18);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(32);
    await until(async () => (await debits()).length === 20);
    const { balanceMillicredits, items } = await account();
    expect(balanceMillicredits).toBe(0);
    const sum = items.reduce(
      (total: number, line: LedgerLine) => total + line.amountMillicredits,
      0,
    );
    expect(sum).toBe(0);
    expect(await project.api('GET', '/db/free')).toMatchObject({ status: 200 });
  });

  it('serves again after the operator’s grant, and reports the usage', async () => {
    const grant = await platform.control('POST', '/credits/grants', {
      token: platform.operatorToken,
      body: { ownerId: project.owner.id, credits: 2, reason: 'a gift' },
    });
    expect(grant.status).toBe(201);
    const nobodys = await platform.control('POST', '/credits/grants', {
      token: platform.operatorToken,
      body: { ownerId: '018f0000-0000-7000-8000-000000000404', credits: 2, reason: 'a gift' },
    });
    expect(nobodys).toMatchObject({ status: 404, body: { code: 'not_found' } });
    await until(async () => (await think()).status === 200);
    await until(async () => (await debits()).length === 21);
    const usage = await platform.control('GET', `/projects/${project.id}/usage?by=route`, {
      token: project.owner.token,
    });
    expect(usage).toMatchObject({ status: 200, body: { calls: 21, millicredits: 21_000 } });
  });

  it('reserves, charges, books and shows the price that the operator has set', async () => {
    const { body } = await platform.control('GET', '/prices', {});
    expect(body.items).toContainEqual(
      expect.objectContaining({ operationId: 'sendEmail', millicreditsPerUnit: 400 }),
    );
    const before = (await account()).balanceMillicredits;
    const to = ['ada@example.org', 'bob@example.org'];
    const send = () =>
      project.api('POST', '/email/send', { body: { to, subject: 'Hi', html: '<p>Hi</p>' } });
    expect((await send()).status).toBe(200);
    await until(async () => (await debits()).length === 22);
    expect((await debits())[0]).toMatchObject({ route: 'sendEmail', amountMillicredits: -800 });
    expect((await account()).balanceMillicredits).toBe(before - 800);
    // 200 are left: less than one recipient costs.
    expect(before).toBe(1000);
    expect((await send()).status).toBe(402);
  });
});
