import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addSampleData } from '@backlot/all-in-one';
import { createClient } from '@backlot/client';
import { launchChromium } from '@backlot/testing/chromium';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type Command, runCommand } from './command-under-test.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const demoUser = { email: 'ada@backlot.example', password: 'a good long password' };

/** What a project shows of the sample data. */
const countSamples = async (baseUrl: string, operatorToken: string) => {
  const { db, products } = createClient(baseUrl, { key: operatorToken });
  const { items } = await products.list();
  const names = ['guestbook', 'cards', 'productDetails'];
  const counts = await Promise.all(names.map(async (name) => (await db(name).count()).count));
  return [items.length, ...counts];
};

describe('sample data', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
  });
  afterAll(() => platform.stop());

  /** Passes so many calls on; whoever makes one more gets no answer. */
  const gatewayThatEnds = (calls: number) => {
    let left = calls;
    const gateway: Parameters<typeof addSampleData>[0]['gateway'] = (req, res) => {
      if (left-- <= 0) return void req.socket.destroy();
      const { method, headers } = req;
      const onward = request(platform.url + req.url, { method, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(res);
      });
      req.pipe(onward);
    };
    return { gateway, callsLeft: () => left };
  };

  it('is whole in the end, and there once, wherever it broke off before', async () => {
    const { id } = await platform.newProject();
    const options = { projectId: id, operatorToken: platform.operatorToken, demoUser };
    const baseUrl = `${platform.url}/api/runtime/${id}`;
    let broken = 0;
    for (let calls = 0; ; calls++) {
      const { gateway } = gatewayThatEnds(calls);
      const failure = await addSampleData({ ...options, gateway }).catch((error: unknown) => error);
      if (failure === undefined) break;
      expect(failure).toMatchObject({ code: 'network' });
      broken++;
    }
    expect(broken).toBeGreaterThan(8);
    expect(await countSamples(baseUrl, platform.operatorToken)).toEqual([3, 3, 4, 3]);
    await addSampleData({ ...options, gateway: gatewayThatEnds(99).gateway });
    expect(await countSamples(baseUrl, platform.operatorToken)).toEqual([3, 3, 4, 3]);
    const ada = createClient(baseUrl);
    await ada.auth.signIn(demoUser);
    expect((await ada.groups.list()).items).toHaveLength(1);
  });

  it('leaves what an owner has made as it is', async () => {
    const { id, owner } = await platform.newProject();
    const baseUrl = `${platform.url}/api/runtime/${id}`;
    const mine = createClient(baseUrl, { key: owner.token });
    await mine.products.set('lamp', { name: 'Lamp', amount: 100 });
    await mine.db('guestbook').create({ text: 'Mine', author: 'Me' });
    const { gateway } = gatewayThatEnds(99);
    const options = { projectId: id, operatorToken: platform.operatorToken, demoUser: undefined };
    await addSampleData({ ...options, gateway });
    expect(await countSamples(baseUrl, platform.operatorToken)).toEqual([1, 1, 0, 3]);
    const { body } = await platform.control('GET', `/projects/${id}/collections`, {
      token: owner.token,
    });
    const guestbook = body.items.find(({ name }: { name: string }) => name === 'guestbook');
    expect(guestbook.access).toBe('shared');
    expect(
      (await platform.control('GET', `/projects/${id}/users`, { token: owner.token })).body.items,
    ).toEqual([]);
  });
});

describe('the first start of the dev command', () => {
  let dataDir: string;
  let browser: Browser;
  let dev: Command | undefined;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'backlot-samples-'));
    browser = await launchChromium();
  }, 300_000);
  afterAll(async () => {
    await dev?.end('SIGINT');
    await browser.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('fills the examples, and what is deleted stays away', async () => {
    const server = createServer().listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    dev = await runCommand('main', dataDir, port);
    const [, email = '', password = ''] = /Demo user +(\S+) +(\S+)/.exec(dev.output()) ?? [];
    const [, operatorToken = ''] = /Operator token +(\S+)/.exec(dev.output()) ?? [];

    const page = await browser.newPage();
    await page.goto(`${dev.url}/examples/guestbook/`);
    await page.getByText('Welcome! Sign up above').waitFor();
    await page.goto(`${dev.url}/examples/shop/`);
    await page.getByText('Teapot').first().waitFor();
    await page.getByText('The lid stays on while you pour.').waitFor();
    await page.goto(`${dev.url}/examples/board/`);
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('To do (2)').waitFor();
    await page.close();

    const baseUrl = `${dev.url}/api/runtime/demo`;
    const project = createClient(baseUrl, { key: operatorToken });
    for (const { id } of (await project.products.list()).items) await project.products.delete(id);
    for await (const { id } of project.db('guestbook').all())
      await project.db('guestbook').delete(id);
    expect(await countSamples(baseUrl, operatorToken)).toEqual([0, 0, 4, 3]);
    await dev.end('SIGINT');
    dev = await runCommand('main', dataDir, port);
    expect(await countSamples(baseUrl, operatorToken)).toEqual([0, 0, 4, 3]);
    const asVisitor = await apiAt(baseUrl)('POST', '/db/guestbook', { body: { data: {} } });
    expect(asVisitor.status).toBe(401);
  });
});
