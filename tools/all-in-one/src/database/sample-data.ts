import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@backlot/client';
import { boardRules, cards, entries, guestbook, products } from './samples.ts';

export interface SampleDataOptions {
  /** The gateway: the samples come the way that all data comes. */
  gateway: RequestListener;
  projectId: string;
  operatorToken: string;
  /** Signs in to the examples; undefined where its mails would leave the house. */
  demoUser: { email: string; password: string } | undefined;
}

type Rule = [method: string, path: string, body: object];

/** What the shop needs: its page of that name sets the same. Settings of the whole project stay as they are. */
const readShopRules = async (): Promise<Rule[]> => {
  const file = new URL('../../../../examples/shop/rules.js', import.meta.url);
  const { setUp } = (await import(fileURLToPath(file))) as { setUp: Rule[] };
  return setUp.filter(([, path]) => path !== '');
};

/** What chat and salon need, of the files beside them, but for settings of the whole project and its mails. */
const readConfigRules = async (example: string): Promise<Rule[]> => {
  const file = new URL(`../../../../examples/${example}/backlot.json`, import.meta.url);
  const { collections, roles = {} } = JSON.parse(await readFile(file, 'utf8'));
  const toRules = (path: string, entries: Record<string, object>) =>
    Object.entries(entries).map(([name, body]): Rule => ['PUT', `/${path}/${name}`, body]);
  return [...toRules('collections', collections), ...toRules('roles', roles)];
};

/**
 * Fills what is empty of the demo project, so that the examples show something. It may end anywhere and begin anew:
 * each step is whole or not there.
 */
export const addSampleData = async ({
  gateway,
  projectId,
  operatorToken,
  demoUser,
}: SampleDataOptions): Promise<void> => {
  const server = createServer(gateway);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${host}/api/runtime/${projectId}`;
  try {
    const project = createClient(baseUrl, { key: operatorToken, retries: 0 });
    const control = createClient(`${host}/api/platform/projects/${projectId}`, {
      key: operatorToken,
      retries: 0,
    }).transport;
    const { items } = await control.call<{ items: { name: string }[] }>('GET', '/collections');
    const isThere = (path: string) => items.some(({ name }) => path === `/collections/${name}`);
    const rules: Rule[] = [
      ['PUT', '/collections/guestbook', guestbook],
      [
        'PUT',
        '/collections/cards',
        { access: boardRules, limits: { maxBytes: 2000, perUserPerHour: 200 } },
      ],
      ...(await readShopRules()),
      ...(await readConfigRules('chat')),
      ...(await readConfigRules('booking')),
    ];
    for (const [, path, body] of rules)
      if (!isThere(path)) await control.call('PUT', path, { body });

    const isEmpty = async (collection: string) =>
      (await project.db(collection).count()).count === 0;
    if (await isEmpty('guestbook'))
      await project.db('guestbook').batch({ create: entries.map((data) => ({ data })) });
    await addProducts(project);
    if (await isEmpty('productDetails')) {
      const create = products.map(({ id, description }) => ({
        data: { product: id, description },
      }));
      await project.db('productDetails').batch({ create });
    }
    if (demoUser && (await isEmpty('cards'))) {
      const verify = (userId: string) =>
        control.call('PATCH', `/users/${userId}`, { body: { emailVerified: true } });
      await addBoard(baseUrl, demoUser, verify);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

/** Those that are missing, unless there are others already. */
const addProducts = async ({ products: shop }: Client) => {
  const { items } = await shop.list({ limit: 100 });
  const known = new Set(items.map(({ id }) => id));
  const missing = products.filter(({ id }) => !known.has(id));
  if (known.size + missing.length > products.length) return;
  for (const { id, name, amount, stock } of missing) await shop.set(id, { name, amount, stock });
};

/** A team of the demo user, who may book too, with a board. */
const addBoard = async (
  baseUrl: string,
  demoUser: { email: string; password: string },
  verify: (userId: string) => Promise<unknown>,
) => {
  const { auth, db, groups } = createClient(baseUrl, { retries: 0 });
  await auth.signUp({ ...demoUser, name: 'Ada' }).catch((error: { code?: string }) => {
    if (error.code !== 'email_taken') throw error;
    return auth.signIn(demoUser);
  });
  if ((await groups.list({ limit: 1 })).items.length === 0) await groups.create('Demo team');
  // A new session knows its groups at once, one before only within seconds.
  const { id } = await auth.signIn(demoUser);
  await verify(id);
  const [team] = (await groups.list({ limit: 1 })).items;
  if (!team) throw new Error('The demo user has no group.');
  await db('cards').batch({ create: cards.map((data) => ({ data, groupId: team.id })) });
};
