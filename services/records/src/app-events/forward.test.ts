import { randomUUID } from 'node:crypto';
import { type AppEvent, events } from '@backlot/contract';
import { asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eraseProject } from '../erasure/erase-project.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import type { Wants } from './wants.ts';

const { id: projectId, number: projectNumber } = testProject;
const all: Wants[number]['types'] = ['record.created', 'record.updated', 'record.deleted'];

describe('what happens to records', () => {
  let bed: TestBed;
  let told: AppEvent[] = [];
  let version = 0;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.bus.listen(['app.event'], ({ payload }) => {
      told.push(events['app.event'].parse(payload));
    });
    await bed.service.start();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await eraseProject(bed.database, projectNumber);
    told = [];
  });

  const want = (changes: Partial<Wants[number]> = {}): Wants[number] => ({
    webhook: 'main',
    types: all,
    collection: 'orders',
    where: null,
    since: new Date(Date.now() - 1000).toISOString(),
    ...changes,
  });
  const publish = (payload: { version: number; wants: Wants }) =>
    bed.bus.publish({
      id: randomUUID(),
      topic: 'webhooks.changed',
      payload: { projectId, projectNumber, ...payload },
    });
  const tell = async (...wants: Wants) => {
    version += 1;
    await publish({ version, wants });
    await until(async () => {
      const [row] = await bed.database.query<{ version: number }>(
        'SELECT version FROM told_projects WHERE project_id = $1',
        [projectNumber],
      );
      return row?.version === version;
    });
  };
  const path = (id: string) => `/db/orders/${id}`;
  const change = (id: string, data: object) =>
    bed.call('PATCH', path(id), { identity: asOwner(), body: { data } });
  const shown = ({ type, data }: AppEvent) => [type, (data.record as { n?: number })?.n];

  it('is told once each, in order, as it was after each change and before a deletion', async () => {
    await tell(want());
    const order = await bed.create('orders', { n: 1 }, asUser(ada));
    await bed.create('notes', { n: 1 });
    for (const n of [2, 3]) await change(order.id, { n });
    await bed.call('DELETE', path(order.id), { identity: asOwner() });
    await until(() => told.length >= 4);
    const inOrder = told.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
    expect(inOrder.map(shown)).toEqual([
      ['record.created', 1],
      ['record.updated', 2],
      ['record.updated', 3],
      ['record.deleted', 3],
    ]);
    expect(inOrder.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(inOrder[0]).toMatchObject({
      webhooks: ['main'],
      orderKey: `orders/${order.id}`,
      userId: ada,
      data: { collection: 'orders', id: order.id, record: order },
    });
    const last = await bed.create('orders', { n: 9 });
    await until(() => told.some(({ data }) => data.id === last.id));
    expect(told).toHaveLength(5);
  });

  it('is told to each webhook by its filter, types and collection, and from when it was made', async () => {
    await bed.create('orders', { n: 0, open: true });
    await until(() => Date.now() % 10 === 0);
    const since = new Date().toISOString();
    await tell(
      want({ webhook: 'open', where: { open: true, n: { $gte: 2 } }, since }),
      want({ webhook: 'gone', types: ['record.deleted'], collection: null, since }),
      want({ webhook: 'owned', where: { ownerId: ada, createdAt: { $gte: since } }, since }),
    );
    const own = await bed.create('orders', { n: 1, open: true }, asUser(ada));
    const other = await bed.create('orders', { n: 2, open: true });
    await change(other.id, { open: false });
    await bed.call('DELETE', path(other.id), { identity: asOwner() });
    await until(() => told.length >= 3);
    const seen = told.map(({ type, data, webhooks }) => [type, data.id, webhooks]);
    expect(seen.sort()).toEqual(
      [
        ['record.created', own.id, ['owned']],
        ['record.created', other.id, ['open']],
        ['record.deleted', other.id, ['gone']],
      ].sort(),
    );
  });

  it('is told once where several processes read, and of records too large to send the id alone', async () => {
    const second = bed.another();
    await second.start();
    await tell(want({ types: ['record.created'] }));
    const create = Array.from({ length: 50 }, (_, n) => ({ data: { n } }));
    const identity = asOwner();
    await Promise.all(
      Array.from({ length: 6 }, () =>
        // A busy machine may refuse one, which then has written nothing.
        until(async () => {
          const call = { identity, body: { create } };
          return (await bed.call('POST', '/db/orders/_batch', call)).status === 200;
        }),
      ),
    );
    const large = await bed.create('orders', { text: 'x'.repeat(300_000) });
    await until(() => told.length >= 301, { what: () => `${told.length} of 301 events` });
    expect(new Set(told.map(({ id }) => id)).size).toBe(301);
    const numbers = told.map(({ number }) => number ?? 0).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 301 }, (_, at) => at + 1));
    expect(told.find(({ data }) => data.id === large.id)?.data).toEqual({
      collection: 'orders',
      id: large.id,
    });
    await second.stop();
  });

  it('is told as it was, of records that were large before, some megabytes at a time', async () => {
    const since = new Date().toISOString();
    const text = 'x'.repeat(900_000);
    const made: string[] = [];
    for (let n = 1; n <= 12; n++) {
      const { id } = await bed.create('orders', { n, text });
      await bed.call('PUT', path(id), { identity: asOwner(), body: { data: { n: -n } } });
      made.push(id);
    }
    await tell(want({ types: ['record.created'], where: { n: { $gte: 1 } }, since }));
    await until(() => told.length >= 12);
    const inOrder = told.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
    expect(inOrder.map(({ data, number }) => [data.id, number])).toEqual(
      made.map((id, at) => [id, at + 1]),
    );
  });

  it('is told no more once nobody wants it, whatever older wishes come late', async () => {
    await tell(want());
    await tell();
    await publish({ version: version - 1, wants: [want()] });
    await bed.create('orders', { n: 1 });
    await tell(want({ since: new Date(Date.now() + 1).toISOString() }));
    await until(() => Date.now() % 10 === 0);
    const last = await bed.create('orders', { n: 2 });
    await until(() => told.some(({ data }) => data.id === last.id));
    expect(told).toHaveLength(1);
  });
});
