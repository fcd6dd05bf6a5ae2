import { until } from '@backlot/testing';
import type { Answer } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type PlatformUnderTest,
  platformUnderTest,
  usualModes,
} from './platform-under-test.ts';

describe.each(usualModes)('three strangers in a loop, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let owner: Account;
  let shop: string;
  let other: string;
  beforeAll(async () => {
    platform = await platformUnderTest(mode, {
      BACKLOT_MONTHLY_CREDITS: '100',
      BACKLOT_TRUSTED_PROXIES: '1',
    });
    const first = await platform.newProject();
    ({ id: shop, owner } = first);
    const { body } = await platform.control('POST', '/projects', {
      token: owner.token,
      body: { name: 'Other' },
    });
    other = body.id;
  });
  afterAll(() => platform.stop());

  const headers = (address: string) => ({ 'x-forwarded-for': address });
  const think = (project: string, address: string): Promise<Answer> =>
    platform.runtime(project)('POST', '/ai', {
      body: { messages: [{ role: 'user', content: 'Hello' }], maxTokens: 50 },
      headers: headers(address),
    });
  const send = (project: string, address: string): Promise<Answer> =>
    platform.runtime(project)('POST', '/email/send', {
      body: { to: 'a@example.org', subject: 'Hi', html: '<p>Hi</p>' },
      headers: headers(address),
    });
  const mails = async () => {
    const { body } = await platform.control('GET', '/projects/platform/emails?limit=100', {
      token: platform.operatorToken,
    });
    return body.items.filter(
      ({ to, subject }: { to: string[]; subject: string }) =>
        to.includes(owner.email) && subject.startsWith('Visitors of'),
    );
  };

  it('take a little of the owner’s month, whose other project goes on, and who has one mail', async () => {
    const answers: Answer[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1'])
      for (let n = 0; n < 12; n++) answers.push(await (n % 2 ? think : send)(shop, address));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(12);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of refused)
      expect([status, body.code]).toEqual([429, 'visitor_budget']);
    expect((await think(other, '192.0.2.9')).status).toBe(200);
    await until(async () => (await mails()).length > 0);
    const all = await mails();
    expect(all).toHaveLength(1);
    expect(all[0].html).toMatch(/192\.0\.2\.1.*POST \/.*callers/s);
    const { body } = await platform.control('GET', '/credits', { token: owner.token });
    expect(body.balanceMillicredits).toBeGreaterThanOrEqual(87_000);
  });
});
