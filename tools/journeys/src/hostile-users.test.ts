import { readFile } from 'node:fs/promises';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

type Project = Awaited<ReturnType<PlatformUnderTest['newProject']>>;
/** What a try of the hostile one came to. */
type Outcome = [status: number, code: string, message: string] | 'done';

const password = 'a good long password';
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

/** A project as the file beside the example says. */
const setUp = async (example: string): Promise<Project> => {
  const project = await platform.newProject();
  const { id, owner } = project;
  const address = new URL(`../../../examples/${example}/backlot.json`, import.meta.url);
  const body = JSON.parse(await readFile(address, 'utf8'));
  // Its templates of mails are a proven owner's.
  await followLink('platform', owner.email);
  const applied = await platform.control('PUT', `/projects/${id}/config`, {
    token: owner.token,
    body,
  });
  expect(applied).toMatchObject({ status: 200 });
  return project;
};

/** Verifies an address by the link that was mailed to it. */
const followLink = async (projectId: string, email: string) => {
  const token = await until(
    async () => {
      const { body } = await platform.control('GET', `/projects/${projectId}/emails`, {
        token: platform.operatorToken,
      });
      const mails = body.items as { to: string[]; html: string }[];
      const mail = mails.find(({ to, html }) => to.includes(email) && html.includes('verify='));
      return mail?.html.match(/verify=([\w-]+)/)?.[1];
    },
    { what: 'a link' },
  );
  const verified = await platform.runtime(projectId)('POST', '/auth/verify', {
    body: { token, password },
  });
  expect(verified.status).toBe(200);
};

const signUp = async (example: string, { id }: Project, name: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${platform.url}/examples/${example}/?project=${id}`);
  await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.org`);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Name (for a new account)').fill(name);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.locator('#who-name').getByText(name).waitFor();
  return page;
};

const setRole = async ({ id, owner }: Project, email: string, role: string) => {
  const { token } = owner;
  const { body } = await platform.control('GET', `/projects/${id}/users?email=${email}`, { token });
  const path = `/projects/${id}/users/${body.items[0].id}`;
  expect((await platform.control('PATCH', path, { token, body: { role } })).status).toBe(200);
};

/**
 * Runs tries with the page's own session, as devtools do.
 * @param tries expressions with `client`
 */
const fromDevtools = async ({ id }: Project, page: Page, tries: readonly string[]) => {
  const outcomes: Outcome[] = [];
  for (const source of tries)
    outcomes.push(
      await page.evaluate(`(async () => {
        const { createClient } = await import('/sdk.js');
        const client = createClient('${platform.url}/api/runtime/${id}');
        return Promise.resolve(${source}).then(
          () => 'done',
          ({ status, code, message }) => [status, code, message],
        );
      })()`),
    );
  return outcomes;
};

const codes = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => (outcome === 'done' ? outcome : `${outcome[0]} ${outcome[1]}`));

describe('the chat', () => {
  it('holds against a user with devtools, whom a moderator then blocks', async () => {
    const project = await setUp('chat');
    const ada = await signUp('chat', project, 'Ada');
    const bob = await signUp('chat', project, 'Bob');
    await setRole(project, 'bob@example.org', 'moderator');

    await ada.getByLabel('Message', { exact: true }).fill('Look at <b>this</b>');
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await ada.getByLabel('Picture').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from(png, 'base64'),
    });
    await ada.getByRole('button', { name: 'Send' }).click();
    const seen = bob.getByRole('listitem').filter({ hasText: 'Look at <b>this</b>' });
    await seen.getByText('Ada').waitFor();
    // Of a private file, to who reads the message.
    await until(
      async () =>
        (await seen.getByRole('img').getAttribute('src'))?.startsWith('blob:') || undefined,
      { what: 'the picture' },
    );

    const eve = await signUp('chat', project, 'Eve');
    const adasMessage = await eve.evaluate(async (base) => {
      const module = '/sdk.js';
      const { createClient } = await import(module);
      return (await createClient(base).db('messages').list()).items[0];
    }, `${platform.url}/api/runtime/${project.id}`);
    const messages = `client.db('messages')`;
    const id = `'${adasMessage.id}'`;
    const outcomes = await fromDevtools(project, eve, [
      `${messages}.create({ text: 'x'.repeat(900_000) })`,
      `${messages}.create({ text: 'Hello', padding: 'x' })`,
      `${messages}.create({ text: { length: 1e9 } })`,
      `${messages}.update(${id}, { data: { text: 'Mine' } })`,
      `${messages}.delete(${id})`,
      `client.db('anything').create({ text: 'x' })`,
      `client.email.send({ to: 'ada@example.org', subject: 'Your account is locked', html: '<p>Pay' })`,
      `client.ai.generate({ prompt: 'A long poem' })`,
      `client.storage.upload(new Blob(['<script>alert(1)</script>']))`,
      `client.storage.upload(new Blob(['x']), { collection: 'messages', recordId: ${id} })`,
      `client.users.list()`,
      `client.users.block('${adasMessage.ownerId}')`,
      `client.storage.open('${adasMessage.picture}')`,
    ]);
    expect(codes(outcomes)).toEqual([
      '400 schema_mismatch',
      '400 schema_mismatch',
      '400 schema_mismatch',
      '403 forbidden',
      '403 forbidden',
      '403 collection_creation_off',
      '403 forbidden',
      '403 forbidden',
      '415 unsupported_media_type',
      '403 forbidden',
      '403 forbidden',
      '403 forbidden',
      'done',
    ]);
    for (const outcome of outcomes)
      if (outcome !== 'done') expect(outcome[2]).toMatch(/^[A-Z"].{10,300}\.$/s);

    // As many messages as an hour allows, at once.
    const flood = await fromDevtools(project, eve, [
      `Promise.all(Array.from({ length: 70 }, (_, n) => ${messages}.create({ text: 'Buy ' + n }).catch(() => {})))`,
      `${messages}.create({ text: 'One more' })`,
    ]);
    expect(codes(flood)).toEqual(['done', '429 rate_limited']);
    const { body } = await project.api('GET', '/db/messages/_count', {
      token: project.owner.token,
    });
    expect(body.count).toBe(61);

    ada.on('dialog', (dialog) => void dialog.accept('Advertising'));
    const spam = ada.getByRole('listitem').filter({ hasText: 'Eve' }).first();
    await spam.getByRole('button', { name: 'Report' }).click();
    // The role is in force within five seconds; the page asks who is signed in when it opens.
    await until(
      async () => {
        await bob.reload();
        const reports = bob.getByRole('heading', { name: 'Reported' });
        return (await reports.isVisible()) || undefined;
      },
      { what: 'the moderator’s list' },
    );
    await bob.getByRole('button', { name: 'Block who wrote it' }).first().click();
    await until(
      async () => {
        await eve.getByLabel('Message', { exact: true }).fill('Again');
        await eve.getByRole('button', { name: 'Send' }).click();
        const problem = await eve.getByRole('alert').textContent();
        return problem?.includes('Advertising') || undefined;
      },
      { what: 'why Eve writes nothing' },
    );
    expect(problems).toEqual([]);
  });
});

describe('the salon', () => {
  it('has each time once, shows nobody who the others are, and gives a guest three times', async () => {
    const project = await setUp('booking');
    const [ada, eve] = [
      await signUp('booking', project, 'Ada'),
      await signUp('booking', project, 'Eve'),
    ];
    const bookings = `client.db('bookings')`;
    const early = await fromDevtools(project, eve, [
      `${bookings}.create({ day: '2030-01-01', time: '09:00' })`,
    ]);
    const first = 'Confirm your e-mail address first: follow the link in the mail.';
    expect(early).toEqual([[403, 'forbidden', first]]);
    for (const name of ['ada', 'eve']) await followLink(project.id, `${name}@example.org`);

    const free = ada.locator('#days section').first().getByRole('button', { name: '09:00' });
    await ada.getByLabel('A wish').fill('Short, please');
    await until(
      async () => {
        if (await free.isEnabled()) await free.click();
        return (await ada.locator('#bookings li').count()) > 0 || undefined;
      },
      { what: 'a booking, once the proof of the address is known everywhere' },
    );
    await ada.getByText('Short, please').waitFor();
    const mailed = await until(
      async () => {
        const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
          token: project.owner.token,
        });
        const mails = body.items as { to: string[]; subject: string }[];
        return mails.find(({ subject }) => subject.startsWith('Booked: '));
      },
      { what: 'the confirmation' },
    );
    expect(mailed.to).toEqual(['ada@example.org']);

    const taken = eve.locator('#days section').first().getByRole('button', { name: '09:00' });
    await until(async () => (await taken.isDisabled()) || undefined, { what: 'the time as taken' });
    const seen = await eve.evaluate(async (base) => {
      const module = '/sdk.js';
      const { createClient } = await import(module);
      const client = createClient(base);
      const { items } = await client.db('bookings').list();
      const people = await client.users.find([items[0].ownerId]);
      return { item: items[0], people };
    }, `${platform.url}/api/runtime/${project.id}`);
    expect(Object.keys(seen.item).sort()).toEqual(
      ['createdAt', 'day', 'id', 'ownerId', 'time', 'updatedAt'].sort(),
    );
    expect(seen.people).toEqual([]);

    const { id, day } = seen.item;
    const mine = (time: string) => `${bookings}.create({ day: '2030-05-01', time: '${time}' })`;
    const outcomes = await fromDevtools(project, eve, [
      `${bookings}.create({ day: '${day}', time: '09:00' })`,
      `${bookings}.create({ day: 'tomorrow', time: '09:00' })`,
      `${bookings}.create({ day: '2030-05-01', time: '09:05' })`,
      `${bookings}.create({ day: '2030-05-01', time: '09:00', name: 'The owner' })`,
      `${bookings}.delete('${id}')`,
      `${bookings}.update('${id}', { data: { day: '2031-01-01' } })`,
      `${bookings}.list({ where: { wish: { $exists: true } }, include: 'ownerId:users' })
        .then(({ items }) => { if (items.some(({ id }) => id === '${id}')) throw new Error('seen'); })`,
      `client.email.send({ to: 'ada@example.org', subject: 'Your account is locked', html: '<p>Pay' })`,
      `client.email.send({ template: 'booked', to: 'ada@example.org', data: { name: 'x', day: 'x', time: 'x' } })`,
      `Promise.all(Array.from({ length: 40 }, (_, n) => ${bookings}.create({ day: '2030-06-' + String(n % 28 + 1).padStart(2, '0'), time: '09:00' }).catch(() => {})))`,
      mine('09:00'),
    ]);
    expect(codes(outcomes)).toEqual([
      '409 not_unique',
      '400 schema_mismatch',
      '400 schema_mismatch',
      '403 forbidden',
      '403 forbidden',
      '403 forbidden',
      'done',
      '403 forbidden',
      expect.stringMatching(/^40[03] /),
      'done',
      '403 limit_reached',
    ]);
    const { body } = await project.api('GET', '/db/bookings/_count', {
      token: project.owner.token,
    });
    expect(body.count).toBe(4);

    await setRole(project, 'ada@example.org', 'staff');
    await until(
      async () => {
        await ada.reload();
        return (await ada.getByText('All bookings').isVisible()) || undefined;
      },
      { what: 'the list of the staff' },
    );
    expect(problems).toEqual([]);
  });
});
