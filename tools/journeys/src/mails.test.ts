import { generateKeyPairSync, sign } from 'node:crypto';
import { launchChromium } from '@backlot/testing/chromium';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest, upstreamModes } from './platform-under-test.ts';

const newest = async (
  list: () => Promise<{ body: { items: { subject: string }[] } }>,
  subject: RegExp,
) => {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { body } = await list();
    const found = body.items.find((item) => subject.test(item.subject));
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`no mail like ${subject}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('mails, from a call to the person who opens them', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    platform = await platformUnderTest('http');
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  it('a new user confirms their address, and changes a forgotten password, through the mailbox', async () => {
    const { id, owner, api } = await platform.newProject();
    const email = 'new-user@example.org';
    const signedUp = await api('POST', '/auth/signup', {
      body: { email, password: 'a good long password', name: 'Nora' },
    });
    const token = String(signedUp.body.token);
    const emails = () => platform.control('GET', `/projects/${id}/emails`, { token: owner.token });
    await newest(emails, /Confirm/);

    // Opened with the printed link, the mailboxes of all projects are open in this browser.
    await page.goto(platform.mailboxUrl);
    await page.getByRole('heading', { name: 'Mailbox of demo' }).waitFor();
    await page.goto(`${platform.url}/mailbox/${id}`);
    await page.getByRole('link', { name: /Confirm your e-mail address/ }).click();
    const frame = page.frameLocator('iframe');
    const links = (body: { items: { html: string }[] }) => body.items[0]?.html.match(/verify=/g);
    expect(links((await emails()).body)).toBeNull();
    const asOperator = { token: platform.operatorToken };
    const seen = await platform.control('GET', `/projects/${id}/emails`, asOperator);
    expect(links(seen.body)).not.toBeNull();
    const opening = page.context().waitForEvent('page');
    await frame.getByRole('link', { name: 'Confirm e-mail address' }).click();
    const account = await opening;
    account.on('pageerror', (error) => problems.push(error.message));
    await account.getByRole('button', { name: 'Confirm e-mail address' }).click();
    await account.getByText('Your e-mail address is confirmed.').waitFor();
    expect((await api('GET', '/auth/me', { token })).body.user.emailVerified).toBe(true);
    expect(account.url()).not.toContain('verify');

    await api('POST', '/auth/forgot', { body: { email } });
    await newest(emails, /Reset/);
    await page.goto(`${platform.url}/mailbox/${id}`);
    await page.getByRole('link', { name: /Reset your password/ }).click();
    const openingReset = page.context().waitForEvent('page');
    await frame.getByRole('link', { name: 'Choose a new password' }).click();
    const reset = await openingReset;
    await reset.getByLabel('New password').fill('12345678');
    await reset.getByRole('button', { name: 'Change password' }).click();
    await reset.getByRole('alert').filter({ hasText: /.+/ }).waitFor();
    await reset.getByLabel('New password').fill('another good password');
    await reset.getByRole('button', { name: 'Change password' }).click();
    await reset.getByText('Your password is changed.').waitFor();
    const signIn = (password: string) => api('POST', '/auth/signin', { body: { email, password } });
    expect((await signIn('another good password')).status).toBe(200);
    expect((await signIn('a good long password')).status).toBe(401);

    await reset.goto(`${platform.url}/account#project=${id}`);
    await reset.reload();
    await reset.getByText('This link is incomplete.').waitFor();
    expect(problems).toEqual([]);
  }, 120_000);

  it.each(['in-process', 'http'] as const)(
    'the mailbox is closed to visitors, behind a proxy of the same machine too, %s',
    async (mode) => {
      const own = await platformUnderTest(mode);
      try {
        const visit = (headers: Record<string, string>, path = 'demo') =>
          fetch(`${own.url}/mailbox/${path}`, { headers: { Accept: 'text/html', ...headers } });
        for (const headers of [{}, { 'X-Forwarded-For': '127.0.0.1' }, { Host: 'localhost' }])
          for (const path of ['demo', 'platform'])
            expect((await visit(headers as Record<string, string>, path)).status).toBe(401);
        expect((await visit({ Authorization: 'Bearer made-up' })).status).toBe(401);
        expect((await visit({}, 'nothing')).status).toBe(404);

        const owner = await own.runtime('platform')('POST', '/auth/signin', { body: own.owner });
        const asOwner = { Authorization: `Bearer ${owner.body.token}` };
        expect((await visit(asOwner)).status).toBe(200);
        expect((await visit(asOwner, 'platform')).status).toBe(401);
        const asOperator = { Authorization: `Bearer ${own.operatorToken}` };
        expect((await visit(asOperator, 'platform')).status).toBe(200);

        const opened = await fetch(own.mailboxUrl, { headers: { Accept: 'text/html' } });
        const [session = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
        expect((await visit({ Cookie: `other=1; ${session}` }, 'platform')).status).toBe(200);
        expect((await fetch(own.mailboxUrl)).status).toBe(401);
      } finally {
        await own.stop();
      }
    },
    120_000,
  );

  it('a mail costs its owner a credit a recipient, and shows what it says', async () => {
    const { id, owner, api } = await platform.newProject();
    const to = ['ada@example.org', 'ADA@example.org', 'bob@example.org'];
    const sent = await api('POST', '/email/send', {
      body: { to, subject: 'Hi', html: '<b>Hi</b>' },
    });
    expect(sent).toMatchObject({ status: 200, body: { ok: true } });
    const emails = () => platform.control('GET', `/projects/${id}/emails`, { token: owner.token });
    await newest(emails, /^Hi$/);
    const credits = apiAt(`${platform.url}/api/platform`);
    const deadline = Date.now() + 10_000;
    for (;;) {
      const { body } = await credits('GET', '/credits', { token: owner.token });
      if (body.balanceMillicredits === 998_000) break;
      if (Date.now() > deadline) throw new Error(`the balance is ${body.balanceMillicredits}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await emails()).body.items).toMatchObject([
      {
        to: ['ada@example.org', 'bob@example.org'],
        subject: 'Hi',
        html: '<b>Hi</b>',
        status: 'captured',
      },
    ]);
  });
});

describe.each(upstreamModes)('events of SendGrid, %s', (mode) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode, {
      BACKLOT_MAILER: 'sendgrid',
      BACKLOT_MAIL_DOMAIN: 'mail.example.org',
      BACKLOT_SENDGRID_API_KEY: 'SG.x',
      BACKLOT_SENDGRID_URL: 'http://127.0.0.1:1',
      BACKLOT_SENDGRID_WEBHOOK_KEY: publicKey
        .export({ type: 'spki', format: 'der' })
        .toString('base64'),
    });
  }, 120_000);
  afterAll(() => platform?.stop());

  it('reach the service as they were signed, and the mailbox is not shown', async () => {
    const body = '[ {"event": "delivered", "email": "jösé@example.org"} ]\r\n';
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64');
    const post = (project: string, sent: string) =>
      fetch(`${platform.url}/api/runtime/${project}/email/sendgrid-events`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-Twilio-Email-Event-Webhook-Signature': signature,
          'X-Twilio-Email-Event-Webhook-Timestamp': timestamp,
        },
        body: sent,
      }).then(({ status }) => status);
    expect(await post('platform', body)).toBe(200);
    expect(await post('platform', body.trim())).toBe(400);
    expect(await post('demo', body)).toBe(404);
    expect((await fetch(`${platform.url}/mailbox/demo`)).status).toBe(404);
  });
});
