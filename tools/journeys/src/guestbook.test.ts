import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

describe('the guestbook in a real browser', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  const open = async (): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('status of 4'))
        problems.push(message.text());
    });
    await page.goto(`${platform.url}/examples/guestbook/`);
    return { context, page };
  };
  const signUp = async (page: Page, email: string, name: string) => {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('a good long password');
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText(name).first().waitFor();
  };
  const write = async (page: Page, text: string) => {
    await page.getByLabel('Your entry').fill(text);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('listitem').filter({ hasText: text }).waitFor();
  };

  it('signs up, writes, edits, deletes; a visitor sees entries but no buttons; the session lives on', async () => {
    const { page } = await open();
    await signUp(page, 'ada@example.org', 'Ada');
    await write(page, 'Hello <b>world</b>');
    await write(page, 'To be deleted');

    await page
      .getByRole('listitem')
      .filter({ hasText: 'Hello' })
      .getByRole('button', { name: 'Edit' })
      .click();
    await page.getByLabel('Your entry').fill('Hello, changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Hello, changed').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'deleted' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('To be deleted').waitFor({ state: 'detached' });

    const visitor = await open();
    await visitor.page.getByText('Hello, changed').waitFor();
    expect(await visitor.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await signUp(visitor.page, 'bob@example.org', 'Bob');
    expect(await visitor.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await write(visitor.page, 'From Bob');
    await page.getByText('From Bob').waitFor();

    await page.reload();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: /.+/ }).waitFor();
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('refuses what a user with devtools fills it with, by messages that the page shows', async () => {
    const limits = { maxBytes: 8000, perUser: 100, perUserPerHour: 5 };
    const set = await platform.control('PUT', '/projects/demo/collections/guestbook', {
      token: platform.operatorToken,
      body: { limits },
    });
    expect(set).toMatchObject({ status: 200, body: { limits } });
    const { page } = await open();
    await signUp(page, 'eve@example.org', 'Eve');
    const save = async (text: string, shown: string) => {
      const entry = page.getByLabel('Your entry');
      await entry.evaluate((area) =>
        (area as unknown as { removeAttribute(name: string): void }).removeAttribute('maxlength'),
      );
      await entry.fill(text);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').filter({ hasText: shown }).waitFor();
    };
    await save('x'.repeat(900_000), 'in "guestbook" one may have 8000');

    const codes = await page.evaluate(async (baseUrl) => {
      const sdk = '/sdk.js';
      const { createClient } = (await import(sdk)) as typeof import('@backlot/client');
      const guestbook = createClient(baseUrl, { retries: 0 }).db('guestbook');
      const send = (text: string) =>
        guestbook.create({ text, author: 'Eve' }).then(
          () => 'done',
          ({ code }: { code: string }) => code,
        );
      const many = (text: string) => Promise.all(Array.from({ length: 30 }, () => send(text)));
      return { large: await many('x'.repeat(900_000)), small: await many('Buy my watches') };
    }, `${platform.url}/api/runtime/demo`);
    expect(new Set(codes.large)).toEqual(new Set(['limit_reached']));
    expect(codes.small.filter((code) => code === 'done')).toHaveLength(5);
    expect(new Set(codes.small)).toEqual(new Set(['done', 'rate_limited']));
    await save('One more', 'You may make at most 5 records in "guestbook" within an hour');
    expect(problems).toEqual([]);
  });
});
