import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from './console/accessible.ts';
import { shoot } from './console/console-under-test.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const password = 'a good long password';

describe('the form to sign in, in a page of another origin with a strict policy', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const problems: string[] = [];
  const hosts = new Set<string>();
  const site = createServer((req, res) => {
    const theme = new URL(req.url ?? '', 'http://site').searchParams.get('theme');
    const from = platform.url;
    res.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; script-src ${from}; connect-src ${from}`,
    });
    res.end(`<!doctype html><html lang="en"><head><title>App</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<script type="module" src="${from}/sdk-sign-in.js"></script></head>
<body><main><h1>App</h1>
<backlot-sign-in project="${project.id}"${theme ? ` theme="${theme}"` : ''}></backlot-sign-in>
</main></body></html>`);
  });

  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
    await platform?.stop();
  });

  const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const open = async (theme?: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(siteUrl() + (theme ? `?theme=${theme}` : ''));
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    return page;
  };
  const alert = (page: Page, text: string | RegExp) =>
    page.getByRole('alert').filter({ hasText: text }).waitFor();
  const focused = (page: Page) =>
    page.evaluate(
      'document.activeElement.shadowRoot?.activeElement?.id || document.activeElement.tagName',
    );

  it('signs up, out, in and mails a link, by the keyboard alone, and says in words what is wrong', async () => {
    const page = await open();
    await page.evaluate(`void (window.heard = new Promise((resolve) =>
      document.querySelector('backlot-sign-in').addEventListener('signed-in', (event) => resolve(event.detail.user.email))))`);
    const keys = page.keyboard;
    await page.getByRole('button', { name: 'New here? Sign up' }).focus();
    await keys.press('Enter');
    await page.getByRole('heading', { name: 'Sign up', exact: true }).waitFor();
    expect(await focused(page)).toBe('email');
    await keys.type('ada@example.org');
    await keys.press('Enter');
    await alert(page, 'Fill in: Password.');
    await keys.type('password');
    await keys.press('Enter');
    await alert(page, 'This password is easy to guess.');
    expect(await focused(page)).toBe('password');
    await shoot(page, 'sign-in-form-sign-up');
    await keys.press('Control+A');
    await keys.type(password);
    await keys.press('Tab');
    await keys.type('Ada');
    await keys.press('Enter');
    await page.getByText('Signed in as Ada').waitFor();
    expect(await page.evaluate('window.heard')).toBe('ada@example.org');
    await page.getByText('follow the link that was mailed to ada@example.org').waitFor();
    await shoot(page, 'sign-in-form-unconfirmed');
    await page.getByRole('button', { name: 'Mail the link again' }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'A new link is on its way' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await keys.press('Enter');

    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.org');
    await page.getByLabel('Password').fill('not hers');
    await keys.press('Enter');
    await alert(page, 'E-mail or password is wrong.');
    expect(await focused(page)).toBe('password');
    await page.getByRole('button', { name: 'Forgot password?' }).press('Enter');
    await page.getByRole('button', { name: 'Mail the link' }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'is on its way' }).waitFor();
    await page.getByLabel('Password').fill(password);
    await keys.press('Enter');
    await page.getByText('Signed in as Ada').waitFor();
    await page.reload();
    await page.getByText('Signed in as Ada').waitFor();
    await page.context().close();
  });

  it.each(['light', 'dark', 'plain', 'contrast'])(
    'is for screen readers and every width in the theme %s',
    async (theme) => {
      const page = await open(theme);
      await expectAccessible(page);
      await shoot(page, `sign-in-form-${theme}`);
      await page.getByRole('button', { name: 'New here? Sign up' }).click();
      await page.getByLabel('E-mail').fill('eve@example.org');
      await page.getByLabel('Password').fill('password');
      await page.getByRole('button', { name: 'Sign up', exact: true }).click();
      await alert(page, 'This password is easy to guess.');
      await expectAccessible(page);
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.context().close();
    },
  );

  it('says that the server is away, and keeps what was typed', async () => {
    const page = await open();
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill(password);
    await page.route(`${platform.url}/**`, (route) => route.abort());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await alert(page, 'The server can not be reached.');
    expect(await page.getByLabel('Password').inputValue()).toBe(password);
    await page.context().close();
  });

  it('calls no host but its own, and breaks no policy', () => {
    expect([...hosts].sort()).toEqual([new URL(platform.url).host, new URL(siteUrl()).host].sort());
    expect(problems).toEqual([]);
  });
});
