import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { emailRoutes } from '@backlot/contract';
import { mark, markHref, scripts, stylesheet, stylesheetHref } from '@backlot/design';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOperator,
  asOwner,
  asUser,
  findTestRoute,
  refusesStrangers,
  signed,
  testProject,
} from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createFakeMailer, createTestBed, type TestBed } from '../testing/test-bed.ts';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

const otherProject = {
  ...testProject,
  id: 'other',
  number: 1002,
  ownerId: '018f0000-0000-7000-8000-00000000eeee',
};
const mailboxKey = 'a key that only the one who started it has seen';
const tokens: Record<string, Identity> = {
  'Bearer owner': asOwner(),
  'Bearer operator': asOperator(),
  'Bearer user': asUser('018f0000-0000-7000-8000-000000000001'),
  'Bearer key': asKey(),
};
/** What the gateway serves beside the pages. */
const linkedFiles: Record<string, { type: string; content: string }> = {
  [stylesheetHref]: { type: 'text/css', content: stylesheet },
  [scripts.mailbox.href]: { type: 'text/javascript', content: scripts.mailbox.content },
  [scripts.times.href]: { type: 'text/javascript', content: scripts.times.content },
  [markHref]: { type: 'image/svg+xml', content: mark },
};
const resetLink = 'https://shop.example/#reset=a-token_that-opens';

describe('the pages of the dev mailbox', () => {
  let bed: TestBed;
  let server: Server;
  let port: number;
  beforeAll(async () => {
    bed = await createTestBed({ config: { mailboxKey } });
    // The gateway's part: it finds the project and says who calls.
    server = createServer((req, res) => {
      const linked = linkedFiles[req.url ?? ''];
      if (linked) {
        res.setHeader('content-type', linked.type);
        res.end(linked.content);
        return;
      }
      const [, , projectId = '', ...rest] = (req.url ?? '').split(/\/|(?=\?)/);
      const known = tokens[req.headers.authorization ?? ''] ?? anonymous();
      const project = projectId === 'other' ? otherProject : known.project;
      delete req.headers.authorization;
      req.url = ['/mailbox', ...rest].join('/').replace('/?', '?');
      req.headers[identityHeader] = signed(
        { ...known, project },
        findTestRoute(req.method ?? '', req.url),
        bed.clock.now(),
      );
      bed.service.app(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await bed.close();
  });

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      redirect: 'manual',
      headers: { Accept: 'text/html', ...headers },
    });
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    };
  };
  const as = (caller: 'owner' | 'operator' | 'user' | 'key') => ({
    Authorization: `Bearer ${caller}`,
  });
  const sessionCookie = ({ headers }: Awaited<ReturnType<typeof get>>) => ({
    Cookie: String(headers['set-cookie']?.split(';')[0]),
  });
  const newestId = async () => (await bed.list('?limit=1'))[0]?.id ?? '';
  const send = async (subject: string, html: string) => {
    expect((await bed.send({ to: 'ada@example.org', subject, html })).status).toBe(200);
    await bed.service.deliver();
    bed.clock.pass(1000);
    return newestId();
  };

  /** A mail of the platform with a one-time link in it. */
  const sendSecret = async () => {
    const id = await send(
      'Reset your password',
      `<p>Hello</p><a href="${resetLink}">Reset</a> ${resetLink}`,
    );
    await bed.database.query('UPDATE mails SET is_secret = true, plain_text = $2 WHERE id = $1', [
      id,
      `Reset: ${resetLink}`,
    ]);
    return id;
  };

  for (const route of [
    emailRoutes.showMailbox,
    emailRoutes.showMail,
    emailRoutes.showMailContent,
    emailRoutes.showMailSource,
    emailRoutes.showMailFile,
    emailRoutes.openMailbox,
  ])
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: route.path.replace(/:\w+/g, '018f0000-0000-7000-8000-000000000001') }),
    );

  it('are closed to visitors, wherever they come from, and say how to sign in', async () => {
    const id = await send('private', '<p>Secret</p>');
    const strangers: Record<string, string>[] = [
      {},
      as('user'),
      as('key'),
      { Cookie: 'backlot_mailbox=' },
      { Cookie: 'backlot_mailbox=x.y' },
      { 'X-Forwarded-For': '127.0.0.1' },
    ];
    for (const headers of strangers) {
      for (const path of ['', `/${id}`, `/${id}/html`, `/${id}/source`]) {
        const { status, body } = await get(`/mailbox/testproject${path}`, headers);
        expect([path, status]).toEqual([path, 401]);
        expect(body).toContain('Only the owner of the project and the operator');
        expect(body).not.toMatch(/private|Secret/);
      }
    }
    const program = await get('/mailbox/testproject', { Accept: 'application/json' });
    expect([program.status, JSON.parse(program.body).code]).toEqual([401, 'unauthenticated']);
  });

  it('show account links to the operator, and hide them from the owner', async () => {
    const id = await sendSecret();
    for (const path of ['html', 'source']) {
      const seen = async (caller: 'owner' | 'operator') =>
        (await get(`/mailbox/testproject/${id}/${path}`, as(caller))).body.replace(/=\r\n/g, '');
      expect(await seen('operator')).toMatch(/a-token_that-opens/);
      const hidden = await seen('owner');
      expect(hidden).not.toContain('a-token');
      expect(hidden).toContain('https://shop.example/#hidden');
    }
    const listed = async (identity: Identity) => {
      const path = `/platform/projects/${testProject.id}/emails?limit=1`;
      return (await bed.call('GET', path, { identity })).body.items[0].html as string;
    };
    expect(await listed(asOwner())).toBe(
      '<p>Hello</p><a href="https://shop.example/#hidden">Reset</a> https://shop.example/#hidden',
    );
    expect(await listed(asOperator())).toContain(resetLink);
  });

  it('open once with the printed key, for one of several at once, in every project', async () => {
    const path = `/mailbox/testproject?key=${encodeURIComponent(mailboxKey)}`;
    const id = await sendSecret();
    for (const wrong of ['?key=', '?key=x', `?key=${mailboxKey.toUpperCase()}`])
      expect((await get(`/mailbox/testproject${wrong}`)).status).toBe(401);
    // A preview does not use it up.
    await get(path, {}, 'HEAD');
    const answers = await Promise.all(Array.from({ length: 5 }, () => get(path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const [opened] = answers.filter(({ status }) => status === 200);
    if (!opened) throw new Error('nobody has opened it');
    expect(opened.headers['set-cookie']).toMatch(
      /^backlot_mailbox=[\w.-]+; Path=\/mailbox; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    expect(opened.body).toContain('url=/mailbox/testproject"');
    const late = await get(path);
    expect([late.status, late.body]).toEqual([401, expect.stringContaining('used already')]);

    const cookie = sessionCookie(opened);
    expect((await get(`/mailbox/testproject/${id}/html`, cookie)).body).toContain(resetLink);
    const { status, body } = await get('/mailbox/other', cookie);
    expect([status, body]).toEqual([200, expect.stringContaining('href="/mailbox/platform"')]);
    expect((await get(path, cookie)).status).toBe(200);
    bed.clock.pass(8 * 60 * 60_000);
    expect((await get('/mailbox/testproject', cookie)).status).toBe(401);
    // Another process, and one that is started anew, know that it was used.
    const beside = await createTestBed({ beside: bed, config: { mailboxKey } });
    const again = await beside.call('GET', `/mailbox?key=${mailboxKey}`);
    expect(again.status).toBe(401);
    await beside.close();
  });

  it('open for an owner with their token, in their own projects alone and without links', async () => {
    const id = await sendSecret();
    const open = (headers: Record<string, string>) =>
      get('/mailbox/testproject/session', headers, 'POST');
    expect((await open({})).status).toBe(401);
    expect((await open(as('user'))).status).toBe(403);
    const cookie = sessionCookie(await open(as('owner')));
    const { body: list } = await get('/mailbox/testproject', cookie);
    expect(list).toContain('Reset your password');
    expect(list).not.toContain('/mailbox/platform');
    expect((await get(`/mailbox/testproject/${id}/html`, cookie)).body).not.toContain('a-token');
    expect((await get('/mailbox/other', cookie)).status).toBe(401);
    const operators = sessionCookie(await open(as('operator')));
    expect((await get('/mailbox/other', operators)).status).toBe(200);
    const [payload, signature] = String(cookie.Cookie).split(/[=.]/).slice(1);
    const content = JSON.parse(Buffer.from(String(payload), 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...content, scope: 'all' })).toString('base64url');
    const Cookie = `backlot_mailbox=${forged}.${signature}`;
    expect((await get('/mailbox/testproject', { Cookie })).status).toBe(401);
  });

  it('keep whoever reads signed in, for a week at most', async () => {
    const opened = await get('/mailbox/testproject/session', as('owner'), 'POST');
    let cookie = sessionCookie(opened);
    const visit = () => get('/mailbox/testproject', cookie);
    expect((await visit()).headers['set-cookie']).toBeUndefined();
    const hourMs = 60 * 60_000;
    let hours = 0;
    for (; ; hours += 5) {
      bed.clock.pass(5 * hourMs);
      const answer = await visit();
      if (answer.status !== 200) break;
      if (answer.headers['set-cookie']) cookie = sessionCookie(answer);
    }
    expect(hours).toBeGreaterThan(6 * 24);
    expect(hours).toBeLessThan(8 * 24);
    expect((await get('/mailbox/other', cookie)).status).toBe(401);
  });

  it('send their cookie over HTTPS alone where the platform is reached by it', async () => {
    const secure = await createTestBed({
      beside: bed,
      config: { publicUrl: 'https://api.example.org' },
    });
    const { headers } = await secure.call('POST', '/mailbox/session', { identity: asOperator() });
    expect(headers.get('set-cookie')).toMatch(/; Secure$/);
    await secure.close();
  });

  it('are not there where mails reach people', async () => {
    const other = await createTestBed({ beside: bed, mailer: createFakeMailer() });
    for (const path of ['/mailbox', '/mailbox/x', '/mailbox/x/html', '/mailbox/x/source'])
      expect((await other.call('GET', path, { identity: asOperator() })).status).toBe(404);
    expect((await other.call('POST', '/mailbox/session', { identity: asOperator() })).status).toBe(
      404,
    );
    await other.close();
  });

  it('know no made-up mail, no mail of another project, and no made-up page', async () => {
    const id = await send('here', 'x');
    for (const path of [
      '/mailbox/testproject/nothing',
      '/mailbox/testproject/018f0000-0000-7000-8000-000000000001',
      '/mailbox/testproject/x/html',
      '/mailbox/testproject/x/source',
      `/mailbox/other/${id}`,
      '/mailbox/testproject/%00',
    ])
      expect([path, (await get(path, as('operator'))).status]).toEqual([path, 404]);
    expect((await get('/mailbox/testproject?cursor=x', as('operator'))).status).toBe(400);
    expect((await get('/mailbox/testproject', as('operator'), 'POST')).status).toBe(404);
  });

  it('give files as what is saved and never runs, to whoever may read the mail', async () => {
    const file = '018f0000-0000-7000-8000-0000000000f1';
    const content = Buffer.from('<script>alert(1)</script>');
    bed.files.all.set(file, { name: '<b>Ü.html', type: 'text/html', content });
    const mail = { to: 'ada@example.org', subject: 'files', html: 'x', attachments: [file] };
    expect((await bed.send(mail)).status).toBe(200);
    await bed.service.deliver();
    bed.clock.pass(1000);
    const at = `/mailbox/testproject/${await newestId()}`;
    const page = await get(at, as('owner'));
    expect(page.body).toContain(`<a href="${at}/files/${file}" download>&lt;b&gt;Ü.html</a>`);
    expect((await get(`${at}/source`, as('owner'))).body).toContain('Its files are left out');
    const saved = await get(`${at}/files/${file}`, as('owner'));
    expect([saved.status, saved.body]).toEqual([200, content.toString()]);
    expect(saved.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="<b>\?\.html"; filename\*=/,
      ),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    for (const headers of [{}, as('user'), as('key')])
      expect((await get(`${at}/files/${file}`, headers)).status).toBe(401);
    const other = '018f0000-0000-7000-8000-0000000000f2';
    bed.files.all.set(other, { name: 'other', type: 'text/plain', content });
    expect((await get(`${at}/files/${other}`, as('owner'))).status).toBe(404);
    bed.files.all.delete(file);
    const gone = await get(`${at}/files/${file}`, as('owner'));
    expect([gone.status, gone.body]).toEqual([404, expect.stringContaining('has been deleted')]);
  });

  it('escape what mails say, and let their HTML do nothing', async () => {
    const id = await send('<img src=x onerror=alert(1)>', '<script>alert(1)</script><b>Hi</b>');
    for (const path of ['', `/${id}`, `/${id}/source`]) {
      const { body, headers } = await get(`/mailbox/testproject${path}`, as('operator'));
      expect(body).not.toMatch(/<img src=x|<script(?! type="module" src="\/design\/)/);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'self'; script-src 'self'; /,
      );
      expect(headers['cache-control']).toBe('no-store');
    }
    const { body, headers } = await get(`/mailbox/testproject/${id}/html`, as('operator'));
    expect(body).toBe('<base target="_blank"><script>alert(1)</script><b>Hi</b>');
    expect(headers['content-security-policy']).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; /,
    );
    const { body: source } = await get(`/mailbox/testproject/${id}/source`, as('operator'));
    expect(source).toContain(`Message-ID: &lt;${id}@backlot.test&gt;`);
    expect(source).toContain('From: Test project &lt;no-reply@backlot.test&gt;');
  });

  describe('in a real browser', () => {
    let browser: Browser;
    let page: Page;
    const dialogs: string[] = [];
    beforeAll(async () => {
      browser = await launchChromium();
      page = await browser.newPage();
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
    }, 300_000);
    afterAll(() => browser?.close());

    const violations = async () => {
      await page.evaluate(axeSource);
      const found = (await page.evaluate('axe.run(document, { iframes: false })')) as {
        violations: { id: string }[];
      };
      return found.violations.map(({ id }) => id);
    };
    const home = () => `http://localhost:${port}/mailbox/testproject`;

    it('list mails page by page, show one in a frame whose links open elsewhere, and its source', async () => {
      for (let n = 0; n < 60; n++) await send(`mail ${n}`, 'x');
      const link = `http://localhost:${port}/mailbox/testproject?opened=1`;
      await send(
        'Welcome',
        `<p>Hello</p><script>alert('ran'); document.body.append('scripted')</script>
         <img src="x" onerror="alert('ran')"><a href="${link}">Confirm</a>
         <form action="${link}&posted=1"><button>Send</button></form>`,
      );
      await page.goto(home());
      await page.getByLabel('Access token').fill('owner');
      expect(await violations()).toEqual([]);
      await page.getByRole('button', { name: 'Open the mailbox' }).click();
      await page.getByRole('heading', { name: 'Mailbox of testproject' }).waitFor();
      expect(await page.getByRole('row').count()).toBe(51);
      expect(await violations()).toEqual([]);
      await page.getByRole('link', { name: 'Older mails' }).click();
      await page.getByRole('link', { name: 'mail 0', exact: true }).waitFor();
      await page.goBack();

      await page.getByRole('link', { name: 'Welcome' }).click();
      await page.getByRole('heading', { name: 'Welcome' }).waitFor();
      expect(await violations()).toEqual([]);
      const frame = page.frameLocator('iframe');
      await frame.getByText('Hello').waitFor();
      expect(await frame.getByText('scripted').count()).toBe(0);
      const opening = page.context().waitForEvent('page');
      await frame.getByRole('link', { name: 'Confirm' }).click();
      const opened = await opening;
      await opened.waitForURL(link);
      // Whoever wrote the mail sends the reader there without the reader's session.
      await opened.getByLabel('Access token').waitFor();
      await frame.getByRole('button', { name: 'Send' }).click();
      expect(page.context().pages()).toHaveLength(2);
      await opened.close();

      await page.setViewportSize({ width: 390, height: 844 });
      for (const address of [home(), page.url()]) {
        await page.goto(address);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
        expect(await violations()).toEqual([]);
      }
      await page.getByRole('link', { name: 'Source' }).click();
      await page.getByText('MIME-Version: 1.0').waitFor();
      expect(await violations()).toEqual([]);
      expect(dialogs).toEqual([]);
    });
  });
});
