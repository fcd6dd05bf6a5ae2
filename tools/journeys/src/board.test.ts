import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

let platform: PlatformUnderTest;
let browser: Browser;
let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
const problems: string[] = [];
const password = 'a good long password';
/** All members but viewers. */
const workers = ['group:owner', 'group:admin', 'group:member'];

beforeAll(async () => {
  browser = await launchChromium();
  platform = await platformUnderTest('in-process');
  project = await platform.newProject();
  await platform.control('PUT', `/projects/${project.id}/collections/cards`, {
    token: project.owner.token,
    body: { access: { read: ['group'], create: workers, change: workers } },
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

const signUp = async (name: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${platform.url}/examples/board/?project=${project.id}`);
  await page.getByLabel('E-mail', { exact: true }).fill(`${name.toLowerCase()}@example.org`);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Name (for a new account)').fill(name);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.locator('#who-name').getByText(name).waitFor();
  return page;
};
const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** The link of an invitation, as its receiver sees it. */
const invitationLink = (receiver: string): Promise<string> =>
  until(
    async () => {
      const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
        token: platform.operatorToken,
      });
      const all = body.items as { to: string[]; html: string }[];
      const mails = all.filter(({ to }) => to.includes(receiver)).map(({ html }) => html);
      const [, fragment] = mails.join().match(/#(project=\w+&amp;join=[\w-]+)/) ?? [];
      return fragment && `${platform.url}/account#${fragment.replace('&amp;', '&')}`;
    },
    { what: 'an invitation' },
  );

const join = async (page: Page, email: string, link: string) => {
  const account = await page.context().newPage();
  account.on('pageerror', (error) => problems.push(error.message));
  await account.goto(link);
  await account.getByLabel('E-mail address').fill(email);
  await account.getByLabel('Password', { exact: true }).fill(password);
  await account.getByRole('button', { name: 'Sign in and join' }).click();
  await account.getByText('You have joined.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Members' }).waitFor();
};

it('a team works on one board at once, and a stranger sees and changes nothing of it', async () => {
  const ada = await signUp('Ada');
  await ada.getByLabel('New team').fill('Red team');
  await ada.getByRole('button', { name: 'Create team' }).click();
  await ada.getByRole('heading', { name: 'Members' }).waitFor();
  await ada.getByLabel('Invite by e-mail').fill('bob@example.org');
  await ada.getByRole('button', { name: 'Invite' }).click();
  await ada.getByText('A link to join has been sent to bob@example.org.').waitFor();

  const bob = await signUp('Bob');
  const link = await invitationLink('bob@example.org');
  await join(bob, 'bob@example.org', link);

  await ada.getByLabel('New card').fill('Write <b>tests</b>');
  await ada.getByRole('button', { name: 'Add' }).click();
  await column(bob, 'To do').getByText('Write <b>tests</b>').waitFor();
  await bob.getByText('To do (1)').waitFor();
  await bob.getByText('Write <b>tests</b>').dragTo(column(bob, 'Done'));
  await column(ada, 'Done').getByText('Write <b>tests</b>').waitFor();
  await ada.getByText('To do (0)').waitFor();

  // Who is to look sees what the others do, and neither page nor devtools let them touch it.
  await ada.getByLabel('Invite by e-mail').fill('carol@example.org');
  await ada.getByLabel('who').selectOption('viewer');
  await ada.getByRole('button', { name: 'Invite' }).click();
  const carol = await signUp('Carol');
  await join(carol, 'carol@example.org', await invitationLink('carol@example.org'));
  await column(carol, 'Done').getByText('Write <b>tests</b>').waitFor();
  expect(await carol.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  expect(await carol.getByLabel('New card').isVisible()).toBe(false);
  const touched = await carol.evaluate(async (base) => {
    const module = '/sdk.js';
    const { createClient } = await import(module);
    const cards = createClient(base).db('cards');
    const [card] = (await cards.list()).items;
    const { id, groupId } = card;
    const tries = [
      cards.update(id, { data: { title: 'Mine' } }),
      cards.delete(id),
      cards.create({ title: 'Mine' }, { groupId }),
      cards.batch({ update: [{ id, data: { column: 'todo' } }] }),
    ];
    const settled = await Promise.allSettled(tries);
    return settled.map((result) => (result as PromiseRejectedResult).reason?.status);
  }, `${platform.url}/api/runtime/${project.id}`);
  expect(touched).toEqual([403, 403, 403, 403]);

  // The hostile one has an account, the link that was used, and all ids.
  const eve = await signUp('Eve');
  const stolen = await eve.context().newPage();
  await stolen.goto(link);
  await stolen.getByRole('alert').filter({ hasText: 'used already' }).waitFor();
  expect(await stolen.getByRole('button').count()).toBe(0);
  const seen = await eve.evaluate(async (base) => {
    const module = '/sdk.js';
    const { createClient } = await import(module);
    const client = createClient(base);
    const refusal = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        ({ status }: { status: number }) => status,
      );
    const { items } = await client.db('cards').list();
    const { items: groups } = await client.groups.list();
    const create = refusal(client.db('cards').create({ title: 'Mine' }));
    return [items, groups, await create];
  }, `${platform.url}/api/runtime/${project.id}`);
  expect(seen).toEqual([[], [], 403]);
  expect(await eve.getByText('Write').count()).toBe(0);

  await ada
    .getByRole('listitem')
    .filter({ hasText: 'Bob, member' })
    .getByRole('button', { name: 'Remove' })
    .click();
  await bob.getByText('Write <b>tests</b>').waitFor({ state: 'hidden' });
  expect(problems).toEqual([]);
});
