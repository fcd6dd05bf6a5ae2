import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { shoot } from './console/console-under-test.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

let platform: PlatformUnderTest;
let browser: Browser;
let base: string;
let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;

beforeAll(async () => {
  browser = await launchChromium();
  platform = await platformUnderTest('in-process');
  project = await platform.newProject();
  base = `${platform.url}/api/runtime/${project.id}`;
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

const mailTo = (receiver: string): Promise<{ code: string; link: string }> =>
  until(
    async () => {
      const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
        token: platform.operatorToken,
      });
      const all = body.items as { to: string[]; html: string }[];
      const mail = all.find(({ to }) => to.includes(receiver))?.html ?? '';
      const [, fragment] = mail.match(/#(project=\w+&amp;sign-in=[\w-]+)/) ?? [];
      const [, code] = mail.match(/is (\d{6})\./) ?? [];
      if (!fragment || !code) return undefined;
      return { code, link: `${platform.url}/account#${fragment.replace('&amp;', '&')}` };
    },
    { what: 'a mail with a code' },
  );

it('a code that was mailed signs up in the app', async () => {
  const email = 'ada@example.org';
  expect((await project.api('POST', '/auth/code', { body: { email } })).body).toEqual({ ok: true });
  const { code } = await mailTo(email);
  const { body } = await project.api('POST', '/auth/code/verify', { body: { email, code } });
  expect(body).toMatchObject({ isNew: true, user: { email, emailVerified: true } });
  const me = await project.api('GET', '/auth/me', { token: body.token });
  expect(me.body.user.id).toBe(body.user.id);
});

it('what scans mails burns no link: its page signs in once somebody presses the button', async () => {
  await project.api('POST', '/auth/code', { body: { email: 'bob@example.org' } });
  const { link } = await mailTo('bob@example.org');
  for (const method of ['HEAD', 'GET', 'GET'])
    expect((await fetch(link, { method })).ok).toBe(true);
  const scanner = await (await browser.newContext()).newPage();
  await scanner.goto(link);
  await scanner.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  await scanner.reload();
  await scanner.getByRole('button', { name: 'Yes, sign in here', exact: true }).waitFor();

  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByText('as b…@example.org. Is that you?').waitFor();
  await shoot(page, 'sign-in-link');
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await page.getByRole('button', { name: 'Yes, sign in here', exact: true }).click();
  await page.getByText('You are signed in in this browser.').waitFor();
  const email = await page.evaluate(async (address) => {
    const module = '/sdk.js';
    const { createClient: create } = await import(module);
    return (await create(address).auth.me()).email;
  }, base);
  expect(email).toBe('bob@example.org');

  await scanner.getByRole('button', { name: 'Yes, sign in here', exact: true }).click();
  await scanner.getByText('This link was used already or has expired.').waitFor();
  await scanner.reload();
  await scanner.getByText('This link was used already or has expired.').waitFor();
  expect(await scanner.getByRole('button').count()).toBe(0);
});

it('the page of a link signs nobody in while it can not say as whom', async () => {
  await project.api('POST', '/auth/code', { body: { email: 'eve@example.org' } });
  const { link } = await mailTo('eve@example.org');
  const page = await (await browser.newContext()).newPage();
  await page.route('**/auth/code/link', (route) => route.abort());
  await page.goto(link);
  await page.getByText('The server can not be reached. Try again.').waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
});
