import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expectAccessible } from './console/accessible.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

describe('the documentation in a real browser', () => {
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

  const open = async (path: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext(options);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(platform.url + path);
    return page;
  };
  const found = (page: Page) => page.getByRole('listbox', { name: 'Results' }).getByRole('option');
  const answer = (page: Page) => page.getByRole('group', { name: 'Answer' });

  it('is searched by keyboard alone, also by other words, slips of a finger and the names of fields and errors', async () => {
    const page = await open('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('create rec');
    await found(page).first().waitFor();
    expect(await found(page).first().textContent()).toContain('Create record');
    for (const [words, title] of [
      ['login', 'Sign in'],
      ['not_unique', 'Create record'],
      ['displayname', ''],
      ['craete recrod', 'Create record'],
      ['constructor', ''],
      ['stripe webhooksecret', 'Set stripe secret'],
    ] as const) {
      await page.getByLabel('Search guides and calls').fill(words);
      if (title === '') await page.getByText('Nothing has all of these words.').waitFor();
      else await found(page).filter({ hasText: title }).first().waitFor();
    }
    await page.getByLabel('Search guides and calls').fill('two people at once');
    await found(page).filter({ hasText: 'Two people at once' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/guides\/records#two-people-at-once$/);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(problems).toEqual([]);
  });

  it('keeps what is typed while the search is still loaded, and says so where it can not be', async () => {
    const page = await open('/docs');
    const typed = Promise.withResolvers<void>();
    await page.route('**/search.js', async (route) => {
      await typed.promise;
      await route.continue();
    });
    await page.keyboard.press('/');
    await page.keyboard.type('create rec');
    typed.resolve();
    await found(page).filter({ hasText: 'Create record' }).first().waitFor();
    expect(await page.getByLabel('Search guides and calls').inputValue()).toBe('create rec');

    const without = await open('/docs');
    await without.route('**/search.json', (route) => route.abort());
    await without.keyboard.press('/');
    await without.getByText('The search could not be loaded.').waitFor();
    await without.unroute('**/search.json');
    await without.keyboard.type('sign in');
    await found(without).first().waitFor();
    expect(problems).toEqual([]);
  });

  it('tries calls against the reader’s own project, and keeps address and token in the tab alone', async () => {
    const { id, owner } = await platform.newProject();
    const baseUrl = `${platform.url}/api/runtime/${id}`;
    const page = await open('/docs/api/createRecord');
    await page.getByText('Your project').click();
    await page.getByLabel('Base address').fill('https://elsewhere.example/api/runtime/demo');
    await page.getByLabel('Token', { exact: true }).fill(owner.token);
    await page.getByRole('button', { name: 'Send POST' }).click();
    await page.getByRole('alert').filter({ hasText: 'base address of your project' }).waitFor();
    await page.getByLabel('Base address').fill(baseUrl);
    await page.getByLabel('Token', { exact: true }).fill('Bearer „x“');
    await page.getByRole('button', { name: 'Send POST' }).click();
    await page.getByRole('alert').filter({ hasText: 'Copy it again' }).waitFor();
    await page.getByLabel('Token', { exact: true }).fill(owner.token);
    await page.getByLabel('Body').fill('{"data": {"title": "Tried"');
    await page.getByRole('button', { name: 'Send POST' }).click();
    await page.getByRole('alert').filter({ hasText: 'not JSON' }).waitFor();
    await page.getByLabel('Body').fill('{"data": {"title": "<img src=x onerror=alert(1)>"}}');
    await page.getByRole('tab', { name: 'curl' }).click();
    await page
      .getByRole('tabpanel')
      .filter({ hasText: `${baseUrl}/db/todos` })
      .waitFor();
    await page.getByRole('button', { name: 'Send POST' }).click();
    await page.getByText('201').first().waitFor();
    await answer(page).filter({ hasText: 'onerror' }).waitFor();
    expect(await answer(page).locator('img').count()).toBe(0);

    await page.goto(`${platform.url}/docs/api/updateProject`);
    expect(await page.getByLabel('projectId').inputValue()).toBe(id);
    await page.getByLabel('Body').fill('{"name": "Renamed here"}');
    await page.getByRole('button', { name: 'Send PATCH' }).click();
    await answer(page).filter({ hasText: 'Renamed here' }).waitFor();

    await page.goto(`${platform.url}/docs/api/getRecord`);
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByRole('alert').filter({ hasText: 'id is needed' }).waitFor();
    expect(JSON.stringify(await page.context().storageState())).not.toContain(owner.token);
    const other = await page.context().newPage();
    await other.goto(`${platform.url}/docs/api/createRecord`);
    await other.getByText('Your project').click();
    expect(await other.getByLabel('Token', { exact: true }).inputValue()).toBe('');
    await page.getByText('Your project').click();
    await page.getByRole('button', { name: 'Forget both' }).click();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(owner.token);
    expect(problems).toEqual([]);
  });

  it('takes the token and the project of an answer, uploads a file, and stops a stream', async () => {
    const page = await open('/docs/api/signUp');
    await page
      .getByLabel('Body')
      .fill('{"email": "tried@example.org", "password": "a good long password"}');
    await page.getByRole('button', { name: 'Send POST' }).click();
    await page.getByRole('button', { name: 'Use this token' }).click();
    await page.goto(`${platform.url}/docs/api/uploadFile`);
    await page.getByLabel('File', { exact: true }).setInputFiles({
      name: 'hello.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Hello'),
    });
    await page.getByRole('button', { name: 'Send POST' }).click();
    await answer(page).filter({ hasText: 'hello.txt' }).waitFor();
    await page.goto(`${platform.url}/docs/api/openEvents`);
    await page.getByText('optional parameters').click();
    await page.getByLabel('collections').fill('todos');
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByText('200 OK').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    expect(problems).toEqual([]);
  });

  it('copies code, keeps the chosen theme and language, and turns pages', async () => {
    const page = await open('/docs/api/createRecord');
    await page.getByRole('tab', { name: 'SDK' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(/^const answer = await fetch\('http.*\/db\/todos', \{/);
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('heading', { level: 1, name: 'Delete records' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expect(problems).toEqual([]);
  });

  it('fits a phone, where the list of pages is a drawer', async () => {
    const page = await open('/docs/guides/records', { viewport: { width: 390, height: 844 } });
    for (const path of [
      '/docs',
      '/docs/guides/records',
      '/docs/rules/api',
      '/docs/api/records',
      '/docs/api/setConfig',
    ]) {
      await page.goto(platform.url + path);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        path,
        390,
      ]);
    }
    const entry = page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Mail', exact: true });
    expect(await entry.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Pages' }).click();
    await entry.click();
    await page.getByRole('heading', { level: 1, name: 'Mail' }).waitFor();
  });

  it.each([
    ['/docs', 1440],
    ['/docs', 390],
    ['/docs/guides/records', 1440],
    ['/docs/rules/owners', 390],
    ['/docs/api/records', 1024],
    ['/docs/api/listRecords', 1440],
    ['/docs/api/setConfig', 390],
  ])('%s at %i px has nothing that axe-core finds', async (path, width) => {
    const page = await open(path, { viewport: { width, height: 900 } });
    await expectAccessible(page);
  });

  it('the search has nothing that axe-core finds', async () => {
    const page = await open('/docs');
    await page.keyboard.press('/');
    await expectAccessible(page);
    await page.keyboard.type('record');
    await found(page).first().waitFor();
    await page.keyboard.press('ArrowUp');
    await expectAccessible(page);
    await page.getByLabel('Search guides and calls').fill('zebra xylophone');
    await page.getByText('Nothing has all of these words.').waitFor();
    await expectAccessible(page);
  });
});
