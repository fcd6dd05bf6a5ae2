import { readFile } from 'node:fs/promises';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

let platform: PlatformUnderTest;
let browser: Browser;
let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
const problems: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  platform = await platformUnderTest('in-process');
  project = await platform.newProject();
  const config = new URL('../../../examples/chat/backlot.json', import.meta.url);
  const applied = await platform.control('PUT', `/projects/${project.id}/config`, {
    token: project.owner.token,
    body: JSON.parse(await readFile(config, 'utf8')),
  });
  expect(applied.status).toBe(200);
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

const signUp = async (name: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${platform.url}/examples/chat/?project=${project.id}`);
  await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.org`);
  await page.getByLabel('Password').fill('a good long password');
  await page.getByLabel('Name (for a new account)').fill(name);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByLabel('Message', { exact: true }).waitFor();
  return page;
};
const send = async (page: Page, text: string) => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
};
const message = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text });

it('two people talk, each sees at once what the other says and takes back, and nobody asks again and again', async () => {
  const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
  await send(ada, 'Hello <b>Bob</b>');
  await message(bob, 'Hello <b>Bob</b>').filter({ hasText: 'Ada' }).waitFor();
  await send(bob, 'Hello Ada');
  await message(ada, 'Hello Ada').filter({ hasText: 'Bob' }).waitFor();
  const asked: string[] = [];
  for (const page of [ada, bob])
    page.on('request', (request) => {
      if (request.method() === 'GET') asked.push(new URL(request.url()).pathname);
    });
  for (let n = 0; n < 5; n++) {
    await send(ada, `Message ${n}`);
    await message(bob, `Message ${n}`).waitFor();
  }
  await message(ada, 'Message 2').getByRole('button', { name: 'Delete' }).click();
  await message(bob, 'Message 2').waitFor({ state: 'detached' });
  // A stream that begins anew reads once.
  expect(asked.length).toBeLessThanOrEqual(2);
  expect(problems).toEqual([]);
});

it('who is here is shown while they are, and who is writing while they write', async () => {
  const [cleo, dan] = [await signUp('Cleo'), await signUp('Dan')];
  const here = (page: Page) => page.locator('#here');
  const shows = (page: Page, ...names: string[]) =>
    until(async () => {
      const shown = (await here(page).textContent())?.split(', ') ?? [];
      return names.every((name) => shown.includes(name));
    });
  await Promise.all([shows(cleo, 'Cleo', 'Dan'), shows(dan, 'Cleo', 'Dan')]);
  await cleo.getByLabel('Message', { exact: true }).pressSequentially('Good evening');
  await dan.getByText('Cleo writing …').waitFor();
  await cleo.getByRole('button', { name: 'Send' }).click();
  await message(dan, 'Good evening').waitFor();
  await dan.getByText('Cleo writing …').waitFor({ state: 'detached' });
  expect(await cleo.locator('#typing').textContent()).toBe('');
  await dan.close();
  await until(async () => !(await here(cleo).textContent())?.includes('Dan'));
  await shows(cleo, 'Cleo');
  expect(problems).toEqual([]);
});
