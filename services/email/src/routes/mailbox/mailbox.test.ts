import { readFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createFakeMailer, createTestBed, type TestBed } from '../../test-bed.ts';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

describe('the pages of the dev mailbox', () => {
  let bed: TestBed;
  let server: Server;
  let port: number;
  beforeAll(async () => {
    bed = await createTestBed();
    const { mailbox } = bed.service;
    if (!mailbox) throw new Error('no mailbox');
    server = createServer(mailbox);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await bed.close();
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
      (resolve, reject) => {
        const asked = request({ port, host: '127.0.0.1', path, headers, method }, (res) => {
          let body = '';
          res.setEncoding('utf8');
          res.on('data', (chunk: string) => {
            body += chunk;
          });
          res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
        });
        asked.on('error', reject);
        asked.end();
      },
    );
  const newestId = async () => (await bed.list('?limit=1'))[0]?.id ?? '';
  const send = async (subject: string, html: string) => {
    expect((await bed.send({ to: 'ada@example.org', subject, html })).status).toBe(200);
    await bed.service.deliver();
    bed.clock.now += 1000;
    return newestId();
  };

  it('are there for this machine alone', async () => {
    expect((await get('/mailbox/testproject')).status).toBe(200);
    for (const headers of [
      { 'X-Forwarded-For': '127.0.0.1' },
      { Forwarded: 'for=127.0.0.1' },
      { Host: 'evil.example' },
      { Host: `localhost.evil.example:${port}` },
    ]) {
      const { status, body } = await get('/mailbox/testproject', headers);
      expect([status, body.includes('on its own machine only')]).toEqual([403, true]);
    }
    for (const host of [`localhost:${port}`, `[::1]:${port}`, '127.0.0.1'])
      expect((await get('/mailbox/testproject', { Host: host })).status).toBe(200);
  });

  it('are not there where mails reach people', async () => {
    const other = await createTestBed({ beside: bed, mailer: createFakeMailer() });
    expect(other.service.mailbox).toBeUndefined();
    await other.close();
  });

  it('know no other project, no made-up mail, and nothing but reading', async () => {
    for (const path of [
      '/mailbox/nothing',
      '/mailbox/testproject/nothing',
      '/mailbox/testproject/018f0000-0000-7000-8000-000000000001',
      '/mailbox/testproject/x/html',
      '/mailbox/testproject/x/source',
      '/mailbox/',
      '/mailbox/testproject/%00',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await get('/mailbox/%ff')).status).toBe(400);
    expect((await get('/mailbox/testproject?cursor=x')).status).toBe(400);
    expect((await get('/mailbox/testproject', {}, 'POST')).status).toBe(404);
  });

  it('escape what mails say, and let their HTML do nothing', async () => {
    const id = await send('<img src=x onerror=alert(1)>', '<script>alert(1)</script><b>Hi</b>');
    for (const path of ['', `/${id}`, `/${id}/source`]) {
      const { body, headers } = await get(`/mailbox/testproject${path}`);
      expect(body).not.toMatch(/<img|<script/);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(headers['cache-control']).toBe('no-store');
    }
    const { body, headers } = await get(`/mailbox/testproject/${id}/html`);
    expect(body).toBe('<base target="_blank"><script>alert(1)</script><b>Hi</b>');
    expect(headers['content-security-policy']).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; /,
    );
    const { body: source } = await get(`/mailbox/testproject/${id}/source`);
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
      await opened.getByRole('heading', { name: 'Mailbox of testproject' }).waitFor();
      await frame.getByRole('button', { name: 'Send' }).click();
      expect(page.context().pages()).toHaveLength(2);
      await opened.close();

      await page.getByRole('link', { name: 'Source' }).click();
      await page.getByText('MIME-Version: 1.0').waitFor();
      expect(await violations()).toEqual([]);
      expect(dialogs).toEqual([]);
    }, 120_000);
  });
});
