import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { isWhole, type Shop, type StackUnderTest } from '../stack-under-test.ts';

const records = 6000;
/** What a receiver takes for an event, so that the kill meets one under way. */
const slowMs = 100;
/** Longer than what a killed import keeps its project for. */
const patienceMs = 120_000;

export const describeLeaving = (getStack: () => StackUnderTest) =>
  describe('projects is killed', () => {
    let stack: StackUnderTest;
    let shop: Shop;
    let address: string;
    beforeAll(async () => {
      stack = getStack();
      shop = await stack.newShop(10);
      address = `${stack.gateways[0]}/api/platform/projects`;
      const create = Array.from({ length: 500 }, (_, n) => ({
        data: { n, text: 'x'.repeat(1000) },
      }));
      for (let made = 0; made < records; made += create.length)
        await stack.runtime(0, shop.id)('POST', '/db/notes/_batch', {
          token: shop.key,
          body: { create },
        });
    });

    const headers = () => ({ authorization: `Bearer ${shop.owner.token}` });
    const kill = async () => {
      await stack.victims.projects.kill();
      await stack.victims.projects.restart();
      await until(() => isWhole(stack.gateways[0]));
    };
    const projectIds = async () => {
      const { body } = await stack.control('GET', '/projects', { token: shop.owner.token });
      return (body.items as { id: string }[]).map(({ id }) => id);
    };
    const exportAll = async () => {
      const answer = await fetch(`${address}/${shop.id}/export`, { headers: headers() });
      return Buffer.from(await answer.arrayBuffer());
    };

    it('in the middle of an export: the caller sees that it is cut, and the next one is whole', async () => {
      const answer = await fetch(`${address}/${shop.id}/export`, { headers: headers() });
      const reader = answer.body?.getReader();
      await reader?.read();
      await stack.victims.projects.kill();
      const rest = (async () => {
        while (!(await reader?.read())?.done);
      })();
      await expect(rest).rejects.toThrow();
      await stack.victims.projects.restart();
      await until(() => isWhole(stack.gateways[0]));
      const [first, second] = [await exportAll(), await exportAll()];
      expect(first.length).toBeGreaterThan(records * 1000);
      expect(first.equals(second)).toBe(true);
    }, 180_000);

    it('in the middle of an import: nothing of it is left, and the next one makes one project', async () => {
      const archive = await exportAll();
      const before = await projectIds();
      const importAll = () =>
        fetch(`${address}/import`, {
          method: 'POST',
          headers: { ...headers(), 'content-type': 'application/x-tar' },
          body: archive,
        });
      const database = new pg.Client(stack.databaseUrl);
      await database.connect();
      const importing = 'SELECT number FROM projects.projects WHERE importing_until IS NOT NULL';
      const killed = importAll().then(
        ({ status }) => status,
        () => 0,
      );
      const [row] = await until(async () => {
        const { rows } = await database.query<{ number: string }>(importing);
        return rows.length > 0 && rows;
      });
      await until(async () => {
        const taken = 'SELECT FROM records.records WHERE project_id = $1 LIMIT 1';
        return (await database.query(taken, [row?.number])).rowCount === 1;
      });
      await kill();
      expect([201, 200]).not.toContain(await killed);
      expect(await projectIds()).toEqual(before);
      await until(
        async () => {
          const left = 'SELECT FROM records.records WHERE project_id = $1 LIMIT 1';
          const gone = (await database.query(left, [row?.number])).rowCount === 0;
          return gone && (await database.query(importing)).rowCount === 0;
        },
        { timeoutMs: patienceMs, what: 'the end of what was begun' },
      );
      await database.end();
      const again = await importAll();
      expect(again.status).toBe(201);
      const { project } = (await again.json()) as { project: { id: string } };
      expect((await projectIds()).sort()).toEqual([...before, project.id].sort());
      const { body } = await apiAt(`${stack.gateways[0]}/api/runtime/${project.id}`)(
        'GET',
        '/db/notes/_count',
        { token: shop.owner.token },
      );
      expect(body.count).toBe(records);
    }, 240_000);

    describe('while a webhook is told', () => {
      let receiver: Server;
      const received: { id: string; n: number }[] = [];
      beforeAll(async () => {
        receiver = createServer((req, res) => {
          let text = '';
          req.on('data', (chunk) => {
            text += chunk;
          });
          req.on('end', () => {
            const { data } = JSON.parse(text);
            received.push({ id: String(req.headers['webhook-id']), n: data.record.n });
            setTimeout(() => res.writeHead(204).end(), slowMs);
          });
        });
        await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      });
      afterAll(() => void receiver.close());

      it('each event comes, of one record in order, repeated under the same id alone', async () => {
        const { port } = receiver.address() as AddressInfo;
        const hook = { url: `http://127.0.0.1:${port}/`, on: ['record.updated:counters'] };
        const set = await stack.control('PUT', `/projects/${shop.id}/webhooks/main`, {
          token: shop.owner.token,
          body: hook,
        });
        expect(set.status).toBe(201);
        const api = stack.runtime(0, shop.id);
        const token = shop.key;
        const { body: counter } = await api('POST', '/db/counters', { token, body: { data: {} } });
        const changes = 60;
        const change = async (n: number) => {
          const body = { data: { n } };
          const { status } = await api('PATCH', `/db/counters/${counter.id}`, { token, body });
          expect(status).toBe(200);
        };
        for (let n = 1; n <= changes; n++) await change(n);
        await until(() => received.length > 3, { timeoutMs: patienceMs });
        await stack.victims.projects.kill();
        expect(received.length).toBeLessThan(changes);
        await stack.victims.projects.restart();
        await until(() => received.some(({ n }) => n === changes), {
          timeoutMs: patienceMs,
          what: 'the last event',
        });
        const byId = new Map(received.map(({ id, n }) => [id, n]));
        const once = received.filter(({ id }, at) => received.findIndex((r) => r.id === id) === at);
        expect(once.map(({ n }) => n)).toEqual(Array.from({ length: changes }, (_, n) => n + 1));
        expect(received.every(({ id, n }) => byId.get(id) === n)).toBe(true);
        expect(received.length).toBeLessThanOrEqual(changes + 4);
      }, 240_000);
    });
  });
