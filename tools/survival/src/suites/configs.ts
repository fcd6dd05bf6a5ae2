import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { StackUnderTest } from '../stack-under-test.ts';

const collections = 40;
const products = 1000;
/** Longer than a lease: what a killed process has left is gone on with then. */
const patienceMs = 90_000;

const named = (prefix: string, count: number, entry: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, entry]));

const file = {
  settings: { createCollections: false },
  collections: named('c', collections, { access: 'private', unique: ['title'] }),
  prompts: { guide: { system: 'You are a guide.' } },
  products: named('p', products, { name: 'Mug', amount: 1200, currency: 'usd', active: true }),
};

export const describeConfigs = (getStack: () => StackUnderTest) =>
  describe('a config whose process is killed', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });

    /** Until a part is being applied. */
    const untilUnderWay = async () => {
      const database = new pg.Client(stack.databaseUrl);
      await database.connect();
      const open = `SELECT FROM projects.config_applications WHERE state = 'applying' AND ended_at IS NULL`;
      await until(async () => (await database.query(open)).rowCount === 1);
      await database.end();
    };

    it('is applied whole once the process is back, and nobody else applies one meanwhile', async () => {
      const shop = await stack.newShop(10);
      const { token } = shop.owner;
      const control = apiAt(`${stack.gateways[0]}/api/platform/projects/${shop.id}`);
      const killed = control('PUT', '/config', { token, body: file }).catch(() => undefined);
      await untilUnderWay();
      await stack.victims.projects.kill();
      await stack.victims.projects.restart();
      await killed;
      const read = () => control('GET', '/config', { token });
      const history = async () => (await control('GET', '/config/applications', { token })).body;
      const isOver = async () => (await read()).status === 200;
      await until(isOver, { timeoutMs: patienceMs, what: 'the end of the config' });
      expect((await history()).items).toMatchObject([{ state: 'done' }]);
      expect((await read()).body).toMatchObject(file);
      const again = await control('PUT', '/config', { token, body: file });
      expect(again).toMatchObject({ status: 200, body: { changes: [] } });
    }, 180_000);
  });
