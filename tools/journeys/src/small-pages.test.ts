import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from './console/accessible.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const password = 'a good long password';
const phone = { width: 390, height: 844 };

describe('the small pages', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    const { token } = project.owner;
    const settings = { allowedOrigins: ['https://shop.example'] };
    await platform.control('PATCH', `/projects/${project.id}`, { token, body: { settings } });
    const body = { testCheckout: true };
    await platform.control('PUT', `/projects/${project.id}/secrets/stripe`, { token, body });
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  const open = async (address: string): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: phone })).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(address);
    return page;
  };
  const fits = async (page: Page) => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
    await expectAccessible(page);
  };
  const invite = async (email: string): Promise<string> => {
    const { api } = project;
    const olga = { email: `olga-${email}`, password, name: 'Olga <b>' };
    const { token } = (await api('POST', '/auth/signup', { body: olga })).body;
    const { id } = (await api('POST', '/groups', { token, body: { name: 'Red <i>team</i>' } }))
      .body;
    await api('POST', `/groups/${id}/invites`, { token, body: { email, role: 'editor' } });
    return until(
      async () => {
        const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
          token: platform.operatorToken,
        });
        const mails = body.items as { to: string[]; html: string }[];
        const html = mails.find(({ to }) => to.includes(email))?.html ?? '';
        return /href="([^"]*join=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
      },
      { what: 'an invitation' },
    );
  };

  it('the page of an invitation names app, team and inviter, joins, and leads back to the app', async () => {
    const link = await invite('may@example.org');
    const page = await open(link);
    await page
      .getByText('Olga <b> invites you to the team “Red <i>team</i>”, as editor.')
      .waitFor();
    await page.getByText('Shop', { exact: true }).waitFor();
    expect(await page.title()).toBe('Join “Red <i>team</i>” · Shop');
    await fits(page);
    await page.getByLabel('E-mail address').fill('may@example.org');
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Create an account and join' }).click();
    await page.getByText('You have joined.').waitFor();
    const back = page.getByRole('link', { name: 'Back to Shop' });
    expect(await back.getAttribute('href')).toBe('https://shop.example');
    expect(page.url()).not.toContain('join');
    await fits(page);

    // The link again, pasted over the address of the same page.
    await page.goto(link);
    await page.getByRole('alert').filter({ hasText: 'used already' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Password' }).isVisible()).toBe(false);
    await back.waitFor();
    expect(problems).toEqual([]);
  });

  it('a link works wherever it is pasted, and half of one says so', async () => {
    const link = await invite('kim@example.org');
    const page = await open(`${platform.url}/account`);
    await fits(page);
    await page.getByLabel('Link from the mail').fill(link.slice(0, link.indexOf('&')));
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByRole('alert').filter({ hasText: 'not the whole link' }).waitFor();
    await page.getByLabel('Link from the mail').fill(`  ${link} `);
    await page.getByRole('button', { name: 'Open the link' }).click();
    await page.getByText('invites you to the team').waitFor();
    for (const [action, button] of [
      ['verify', 'Confirm e-mail address'],
      ['reset', 'Change password'],
      ['change-email', 'Change e-mail address'],
    ] as const) {
      await page.evaluate(`location.hash = 'project=${project.id}&${action}=made-up'`);
      await page.getByRole('button', { name: button }).waitFor();
      await page.getByText('Shop', { exact: true }).waitFor();
      await fits(page);
    }
    await page.getByRole('textbox', { name: 'Password of the account' }).fill(password);
    await page.getByRole('button', { name: 'Change e-mail address' }).click();
    await page.getByRole('alert').filter({ hasText: /link/ }).waitFor();
    await page.evaluate(`location.hash = 'project=nothing&join=made-up'`);
    await page.getByRole('alert').filter({ hasText: /.+/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it('the front door makes an owner and leads to the console, and an unknown address is a page', async () => {
    const page = await open(platform.url);
    await fits(page);
    await page.getByLabel('E-mail address').fill('front@example.org');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create your backend' }).click();
    await page.waitForURL(/\/console\//);
    await page.goto(platform.url);
    await page.getByRole('link', { name: 'Open the console' }).waitFor();
    await page.goto(`${platform.url}/nothing`);
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
    await fits(page);
    expect(problems).toEqual([]);
  });

  it('the mailbox opens where one wanted to read, and is read on a phone', async () => {
    await invite('lee@example.org');
    const { body } = await platform.control('GET', `/projects/${project.id}/emails?limit=1`, {
      token: project.owner.token,
    });
    const page = await open(`${platform.url}/mailbox/${project.id}/${body.items[0].id}`);
    await fits(page);
    await page.getByLabel('Access token').fill(project.owner.token);
    await page.getByRole('button', { name: 'Open the mailbox' }).click();
    await page
      .getByRole('heading', { level: 1, name: 'You are invited to join a group' })
      .waitFor();
    await fits(page);
    await page.getByRole('link', { name: `Mailbox of ${project.id}` }).click();
    await page.getByRole('link', { name: 'You are invited to join a group' }).first().waitFor();
    await fits(page);
    expect(problems).toEqual([]);
  });

  it('the test checkout and what refuses it are pages of the same design', async () => {
    const { body } = await project.api('POST', '/payments/checkout', {
      body: {
        items: [{ name: 'Teapot', amount: 1999, quantity: 2 }],
        returnUrl: 'https://shop.example/thanks',
      },
    });
    const page = await open(body.url);
    await page.getByText('Test payment').waitFor();
    await fits(page);
    await page.goto(`${body.url}x`);
    await page.getByRole('heading', { name: 'Something is not right' }).waitFor();
    await fits(page);
    expect(problems).toEqual([]);
  });
});
