import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mail } from '@backlot/contract';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

/** An app at an origin of its own, whose page follows the links of account mails. */
const startApp = async (platformUrl: string, project: string) => {
  const served = { proof: '' };
  const page = `<!doctype html><html lang="en"><title>App</title><button>Confirm</button><p></p>
<script type="module">
import { createClient } from '${platformUrl}/sdk.js';
const { auth } = createClient('${platformUrl}/api/runtime/${project}');
document.querySelector('button').onclick = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get('verify');
  await auth.verifyEmail(token, 'a good long password');
  document.querySelector('p').textContent = 'Thank you from the app';
};
</script>`;
  const server = createServer((req, res) => {
    const isProof = req.url === '/.well-known/backlot-verification';
    res.writeHead(200, { 'Content-Type': isProof ? 'text/plain' : 'text/html; charset=utf-8' });
    res.end(isProof ? served.proof : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    served,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** On the platform's page, where other forms are hidden. */
const fillPassword = (page: Page, password: string) =>
  page.locator('form:not([hidden])').getByLabel('Password of the account').fill(password);

type List = () => Promise<{ body: { items: { subject: string; html: string }[] } }>;

/** The newest mail with such a subject, and with a text like this in it. */
const newest = (list: List, subject: RegExp, text = /^/) =>
  until(
    async () => {
      const { body } = await list();
      return body.items.find((item) => subject.test(item.subject) && text.test(item.html));
    },
    { what: `a mail like ${subject}` },
  );

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
    const confirm = account.getByRole('button', { name: 'Confirm e-mail address' });
    await fillPassword(account, 'not the password');
    await confirm.click();
    await account.getByText('"password": is wrong.').waitFor();
    await fillPassword(account, 'a good long password');
    await confirm.click();
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
  });

  it('a user sends a file of theirs along, and nobody sends somebody else’s', async () => {
    const { id, owner, api } = await platform.newProject();
    const [ada, bob] = [await platform.signUp(id), await platform.signUp(id)];
    const form = new FormData();
    form.set('visibility', 'private');
    form.set('file', new Blob(['private words']), 'cv.txt');
    const uploaded = await fetch(`${platform.url}/api/runtime/${id}/storage/upload`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ada.token}` },
      body: form,
    });
    const file = (await uploaded.json()) as { id: string };
    const body = { to: 'job@example.org', subject: 'CV', html: 'x', attachments: [file.id] };
    const send = (token?: string) =>
      api('POST', '/email/send', { body, ...(token !== undefined && { token }) });
    for (const token of [bob.token, undefined])
      expect(await send(token)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect((await send(ada.token)).status).toBe(200);
    const list = () => platform.control('GET', `/projects/${id}/emails`, { token: owner.token });
    const sent = await until(
      async () =>
        (await list()).body.items.find(
          ({ status, subject }: Mail) => status === 'captured' && subject === body.subject,
        ),
      { what: 'the mail with its file' },
    );
    expect(sent.attachments).toEqual([
      { id: file.id, name: 'cv.txt', type: 'text/plain', size: 13 },
    ]);
    const headers = { Authorization: `Bearer ${owner.token}` };
    const at = `${platform.url}/mailbox/${id}/${sent.id}/files/${file.id}`;
    expect(await (await fetch(at, { headers })).text()).toBe('private words');
    expect((await fetch(at)).status).toBe(401);
  });

  it('links lead to the app’s own page once its origin is verified, and it confirms the address', async () => {
    const { id, owner, api } = await platform.newProject();
    const app = await startApp(platform.url, id);
    const asOwner = { token: owner.token };
    const path = `/projects/${id}`;
    const signUp = async (email: string, leadsTo: string) => {
      const body = { email, password: 'a good long password' };
      const { token } = (await api('POST', '/auth/signup', { body })).body;
      const operator = { token: platform.operatorToken };
      const emails = () => platform.control('GET', `${path}/emails?limit=1`, operator);
      const href = new RegExp(`href="(${leadsTo}#[^"]*)"`);
      const { html } = await newest(emails, /Confirm your e-mail/, href);
      const [, link = ''] = href.exec(html) ?? [];
      return { token: String(token), link: link.replaceAll('&amp;', '&') };
    };
    try {
      const { body } = await platform.control('POST', `${path}/origins`, {
        ...asOwner,
        body: { origin: app.origin },
      });
      const settings = { accountPageUrl: `${app.origin}/account.html` };
      await platform.control('PATCH', path, { ...asOwner, body: { settings } });
      await signUp('early@example.org', `${platform.url}/account`);

      app.served.proof = body.file.content;
      const verify = `${path}/origins/${body.id}/verify`;
      expect((await platform.control('POST', verify, asOwner)).status).toBe(200);
      const { token, link } = await signUp('late@example.org', settings.accountPageUrl);
      expect(link).toContain(`#project=${id}&verify=`);
      await page.goto(link);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('Thank you from the app').waitFor();
      expect((await api('GET', '/auth/me', { token })).body.user.emailVerified).toBe(true);
      expect(problems).toEqual([]);
    } finally {
      await app.stop();
    }
  });

  it('a user changes their address by the links in both mails', async () => {
    const { id, api } = await platform.newProject();
    const password = 'a good long password';
    const [email, newEmail] = ['present@example.org', 'new@example.org'];
    const { token } = (await api('POST', '/auth/signup', { body: { email, password } })).body;
    const follow = async (subject: RegExp, button: string) => {
      const emails = () =>
        platform.control('GET', `/projects/${id}/emails`, { token: platform.operatorToken });
      const { html } = await newest(emails, subject, /href=/);
      const [, link = ''] = /href="([^"]*)"/.exec(html) ?? [];
      await page.goto(`${platform.url}/mailbox/${id}`);
      await page.goto(link.replaceAll('&amp;', '&'));
      await fillPassword(page, password);
      await page.getByRole('button', { name: button }).click();
    };
    await follow(/Confirm your e-mail/, 'Confirm e-mail address');
    await page.getByText('Your e-mail address is confirmed.').waitFor();
    const body = { email: newEmail, password };
    await api('POST', '/auth/change-email', { token: String(token), body });
    await follow(/is to change/, 'Change e-mail address');
    await page.getByText('Now follow the link in the mail to the other address.').waitFor();
    await follow(/new e-mail address/, 'Change e-mail address');
    await page.getByText('Your e-mail address is changed.').waitFor();
    const me = await api('GET', '/auth/me', { token: String(token) });
    expect(me.body.user).toMatchObject({ email: newEmail, emailVerified: true });
    expect((await api('POST', '/auth/signin', { body })).status).toBe(200);
    expect(problems).toEqual([]);
  });

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
  );

  it('a mail costs its owner a credit a recipient, and shows what it says', async () => {
    const { id, owner, api } = await platform.newProject();
    const to = ['ada@example.org', 'ADA@example.org', 'bob@example.org'];
    const sent = await api('POST', '/email/send', {
      body: { to, subject: 'Hi', html: '<b>Hi</b>' },
    });
    expect(sent).toMatchObject({ status: 200, body: { ok: true } });
    const emails = () => platform.control('GET', `/projects/${id}/emails`, { token: owner.token });
    const credits = apiAt(`${platform.url}/api/platform`);
    await until(async () => {
      const { body } = await credits('GET', '/credits', { token: owner.token });
      return body.balanceMillicredits === 998_000;
    });
    const mails = await until(async () => {
      const { items } = (await emails()).body;
      return items[0]?.status === 'captured' && items;
    });
    expect(mails).toMatchObject([
      { to: ['ada@example.org', 'bob@example.org'], subject: 'Hi', html: '<b>Hi</b>' },
    ]);
  });
});

describe.each(usualModes)('events of SendGrid, %s', (mode) => {
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
  });
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
