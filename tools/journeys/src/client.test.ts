import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, newId } from '@backlot/client';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

interface Todo {
  title: string;
  priority: number;
  tags?: string[];
}

describe.each(usualModes)('the client, services %s', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
  });
  afterAll(() => platform.stop());

  it('signs up, keeps records, files and mails, asks the AI, pays, and signs out', async () => {
    const client = createClient<{ tasks: Todo }>(`${platform.url}/api/runtime/demo`);
    const { auth, ai, email, payments, storage } = client;
    const user = await auth.signUp({
      email: `${mode}@example.org`,
      password: 'a good long password',
    });
    expect(await auth.me()).toEqual(user);

    const tasks = client.db('tasks');
    const task = { title: 'Made offline', priority: 1 };
    const refusal = await tasks
      .replace(crypto.randomUUID(), task, { upsert: true })
      .catch((error: { status: number; hint: string }) => error);
    expect(refusal).toMatchObject({ status: 400, hint: expect.stringContaining('newId()') });
    const id = newId();
    expect(await tasks.replace(id, task, { upsert: true })).toMatchObject({ id });
    await tasks.delete(id);

    const { create } = await tasks.batch({
      create: Array.from({ length: 25 }, (_, n) => ({ data: { title: `Task ${n}`, priority: n } })),
    });
    expect(create).toHaveLength(25);
    const milk = await tasks.create({ title: 'Buy milk', priority: 100, tags: ['shop'] });
    expect(milk.ownerId).toBe(user.id);
    const { items, hasMore } = await tasks.list({
      where: { priority: { $gte: 10 }, tags: { $exists: false } },
      sort: '-priority',
      limit: 5,
    });
    expect([items.map(({ priority }) => priority), hasMore]).toEqual([[24, 23, 22, 21, 20], true]);
    const all: number[] = [];
    for await (const { priority } of tasks.all({ sort: 'priority', limit: 10 })) all.push(priority);
    expect(all).toEqual([...Array(25).keys(), 100]);
    expect(await tasks.count({ where: { tags: 'shop' } })).toEqual({ count: 1 });

    const { version } = await tasks.getVersion(milk.id);
    const changed = await tasks.update(milk.id, { inc: { priority: 1 }, unset: ['tags'] });
    expect(changed).toMatchObject({ priority: 101, title: 'Buy milk' });
    const outdated = tasks.update(milk.id, { data: { title: 'x' } }, { ifMatch: version });
    await expect(outdated).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
    await tasks.delete(milk.id);
    await expect(tasks.get(milk.id)).rejects.toMatchObject({ code: 'not_found' });

    const file = await storage.upload(new Blob(['hello']), {
      name: 'a.txt',
      visibility: 'private',
    });
    expect((await fetch(file.url)).status).toBe(404);
    const { url } = await storage.sign(file.id, 60);
    expect(await (await fetch(url)).text()).toBe('hello');
    expect((await storage.list()).items).toMatchObject([{ id: file.id, size: 5 }]);
    await storage.delete(file.id);

    const messages = [{ role: 'user' as const, content: 'Say hello' }];
    expect((await ai.generate({ messages })).text).not.toBe('');
    let streamed = '';
    for await (const part of ai.stream({ messages })) streamed += part;
    expect(streamed).not.toBe('');

    await email.send({ to: 'bob@example.org', subject: 'Hi', html: '<p>Hi</p>' });
    const session = await payments.checkout({
      items: [{ name: 'Mug', amount: 1999, quantity: 1 }],
      returnUrl: `${platform.url}/examples/shop/receipt.html`,
    });
    expect(await payments.verify(session.sessionId)).toMatchObject({
      paid: false,
      payment: { amount: 1999, livemode: false },
    });

    await auth.signOut();
    expect(await auth.me()).toBeNull();
  });

  it('keeps lists true: with filters, fields, limits and included users, for who is signed in', async () => {
    const open = () => createClient<{ live: Todo }>(`${platform.url}/api/runtime/demo`);
    const [ada, bob] = [open(), open()];
    const password = 'a good long password';
    await ada.auth.signUp({ email: `ada-${mode}@example.org`, password, name: 'Ada' });
    const { id: bobId } = await bob.auth.signUp({ email: `bob-${mode}@example.org`, password });
    let urgent: object[] = [];
    let authors: unknown[] = [];
    let mine: string[] = [];
    const onError = ({ message }: Error) => void urgent.push({ message });
    const stops = [
      ada.db('live').live(
        {
          where: { priority: { $gte: 5 } },
          sort: '-priority',
          limit: 2,
          fields: 'title',
          onError,
        },
        (items) => {
          urgent = items;
        },
      ),
      ada.db('live').live({ include: 'ownerId:users', sort: 'createdAt', onError }, (items) => {
        authors = items.map(({ ownerId }) => (ownerId as unknown as { id: string })?.id);
      }),
      bob.db('live').live({ mine: true, sort: 'createdAt', onError }, (items) => {
        mine = items.map(({ title }) => title);
      }),
    ];
    const shown = (get: () => unknown, wanted: unknown) =>
      until(() => JSON.stringify(get()) === JSON.stringify(wanted), {
        what: JSON.stringify(wanted),
      }).catch((error) => {
        throw new Error(`It is ${JSON.stringify(get())}.`, { cause: error });
      });
    const a = await bob.db('live').create({ title: 'a', priority: 5 });
    const b = await ada.db('live').create({ title: 'b', priority: 7 });
    const [oneA, oneB] = [
      { id: a.id, title: 'a' },
      { id: b.id, title: 'b' },
    ];
    await shown(() => urgent.map((item) => (item as Todo).title), ['b', 'a']);
    await shown(() => authors, [bobId, b.ownerId]);
    await shown(() => mine, ['a']);
    await bob.db('live').update(a.id, { inc: { priority: -1 } });
    await shown(() => urgent.length, 1);
    await bob.db('live').update(a.id, { inc: { priority: 4 } });
    await shown(() => urgent.map((item) => (item as Todo).title), ['a', 'b']);
    expect(urgent).toEqual([oneA, oneB]);
    await bob.auth.signOut();
    await bob.auth.signIn({ email: `ada-${mode}@example.org`, password });
    await shown(() => mine, ['b']);
    for (const stop of stops) stop();
  });
});

describe('the client in a browser, from another origin', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  const site = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>App</title>');
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
    await platform?.stop();
  });

  it('is imported as it stands, stays signed in, and tells the progress of an upload', async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const host = platform.url;
    const seen = await page.evaluate(async (origin) => {
      const { createClient: create } = await import(`${origin}/sdk.js`);
      const client = create(`${origin}/api/runtime/demo`);
      await client.auth.signUp({ email: 'web@example.org', password: 'a good long password' });
      const { id } = await client.db('notes').create({ text: 'from a browser' });
      const steps: number[] = [];
      const file = await client.storage.upload(new Blob(['x'.repeat(300_000)]), {
        onProgress: (sent: number) => steps.push(sent),
      });
      let answer = '';
      const messages = [{ role: 'user', content: 'Hello' }];
      for await (const part of client.ai.stream({ messages })) answer += part;
      const refused = await client
        .db('notes')
        .list({ where: { a: { $near: 1 } } })
        .catch((error: { code: string; status: number }) => [error.status, error.code]);
      return { id, size: file.size, last: steps.at(-1), answer, refused };
    }, host);
    expect(seen).toMatchObject({ size: 300_000, refused: [400, 'invalid_where'] });
    expect(seen.last).toBeGreaterThan(300_000);
    expect(seen.answer).not.toBe('');

    await page.reload();
    const again = await page.evaluate(async (origin) => {
      const { createClient: create } = await import(`${origin}/sdk.js`);
      return (await create(`${origin}/api/runtime/demo`).auth.me())?.email;
    }, host);
    expect(again).toBe('web@example.org');
    await page.close();
  });
});
