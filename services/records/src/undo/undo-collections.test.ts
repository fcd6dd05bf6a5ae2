import { randomUUID } from 'node:crypto';
import type { Undo } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCollections } from '../collections/collections.ts';
import { placeLimits } from '../collections/table/places.ts';
import { createSendChange } from '../record/change/send-change.ts';
import { collectionsPath } from '../testing/calls.ts';
import { ada, checksWithout, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { undoCalls } from '../testing/undo-calls.ts';
import { createUndoRunner } from './run-undo.ts';

const platform = `/platform/projects/${testProject.id}`;
const asAda = asUser(ada);
const agent = asKey();
const agentsName = `key:${agent.keyId}`;

describe('undo of deleted collections', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(async () => {
    expect(bed.errors).toEqual([]);
    await bed.close();
  });

  const call = (method: string, path: string, body?: object, identity = asOwner()) =>
    bed.call(method, path, { identity, ...(body && { body }) });
  const mark = async (name: string) =>
    expect((await call('POST', `${platform}/restore-points`, { name })).status).toBe(201);
  const remove = async (name: string, query = '', identity = agent) => {
    expect(
      (await call('DELETE', `${collectionsPath}/${name}${query}`, undefined, identity)).status,
    ).toBe(200);
    // Of two within a millisecond none is the first.
    bed.clock.pass(2);
  };
  const { undo, untilDone } = undoCalls(() => bed);
  const fill = async (name: string, records: number, identity = asAda) => {
    const made = [];
    for (let n = 0; n < records; n++) made.push(await bed.create(name, { n }, identity));
    return made;
  };
  const list = async (name: string) =>
    (await call('GET', `/db/${name}?limit=1000&sort=id`)).body.items as { id: string; n: number }[];
  const nothing = { created: 0, updated: 0, deleted: 0, conflictCount: 0 };
  const restored = ({ collections }: Undo) =>
    collections.map(({ collection, how, records }) => [collection, how, records]);
  const left = ({ notUndone }: Undo) =>
    notUndone.map(({ collection, reason }) => [collection, reason]);

  it('brings them back as they were, and changes nothing the second time', async () => {
    const made = await fill('orders', 4);
    const lists = await fill('lists', 3);
    await mark('before');
    const path = (n: number) => `/db/orders/${made[n]?.id}`;
    await call('PATCH', path(0), { data: { n: 10 } }, agent);
    await call('DELETE', path(1), undefined, agent);
    await fill('orders', 1, agent);
    await remove('orders');
    await remove('lists', '?empty=1');
    const request = { restorePoint: 'before' };

    const tried = await undo({ ...request, dryRun: true });
    const counts = { created: 1, updated: 1, deleted: 1, conflictCount: 0 };
    const both = [
      ['orders', 'deleted', 4],
      ['lists', 'emptied', 3],
    ];
    expect(tried).toMatchObject({ ...counts, notUndone: [] });
    expect(restored(tried)).toEqual(both);
    expect(await list('orders')).toEqual([]);

    const done = await undo(request);
    expect(done).toMatchObject({ ...counts, notUndone: [] });
    expect(restored(done)).toEqual(both);
    expect((await list('orders')).map(({ id, n }) => [id, n])).toEqual(
      made.map(({ id }, n) => [id, n]),
    );
    expect((await list('lists')).map(({ id }) => id)).toEqual(lists.map(({ id }) => id));

    const again = await undo(request);
    expect(again).toMatchObject({ ...nothing, collections: [], notUndone: [] });
    expect((await call('GET', `${platform}/undo/${done.id}`)).body.collections).toHaveLength(2);
  });

  it('brings back those that one actor or call has ended, or of these names', async () => {
    for (const name of ['byAgent', 'byOwner', 'named']) await fill(name, 1);
    await mark('actors');
    await remove('byAgent');
    for (const name of ['byOwner', 'named']) await remove(name, '', asOwner());
    const request = { restorePoint: 'actors' };
    expect(restored(await undo({ ...request, collections: ['named'] }))).toEqual([
      ['named', 'deleted', 1],
    ]);
    expect(restored(await undo({ ...request, actor: agentsName }))).toEqual([
      ['byAgent', 'deleted', 1],
    ]);
    const none = await undo({ ...request, requestId: randomUUID() });
    expect(none).toMatchObject({ collections: [], notUndone: [] });
    expect(await list('byOwner')).toEqual([]);
    const refused = { ...request, collections: ['nowhere'] };
    expect((await call('POST', `${platform}/undo`, refused)).status).toBe(404);
  });

  it('names those whose name others use, and leaves both', async () => {
    await fill('used', 2);
    await mark('used');
    await remove('used');
    const [newer] = await fill('used', 1);
    const request = { restorePoint: 'used', actor: agentsName };
    for (const dryRun of [true, false]) {
      const answer = await undo({ ...request, dryRun });
      expect([restored(answer), left(answer)]).toEqual([[], [['used', 'conflict']]]);
    }
    expect((await list('used')).map(({ id }) => id)).toEqual([newer?.id]);
    const back = await call('POST', `${collectionsPath}/used/restore`, { name: 'used2' });
    expect(back.body.count).toBe(2);
  });

  it('takes back what apps have made in their place first', async () => {
    const made = await fill('remade', 3);
    await mark('remade');
    await call('PATCH', `/db/remade/${made[0]?.id}`, { data: { n: 7 } }, agent);
    await remove('remade');
    await fill('remade', 2);
    await remove('remade');
    await fill('remade', 2);
    const request = { restorePoint: 'remade' };
    const done = await undo(request);
    expect(done).toMatchObject({ created: 0, updated: 1, deleted: 2, notUndone: [] });
    expect(restored(done)).toEqual([['remade', 'deleted', 3]]);
    expect((await list('remade')).map(({ id, n }) => [id, n])).toEqual(
      made.map(({ id }, n) => [id, n]),
    );
    expect(await undo(request)).toMatchObject({ ...nothing, collections: [], notUndone: [] });
  });

  it('brings back of several of a name what there was first', async () => {
    const made = await fill('thrice', 2);
    await mark('thrice');
    await remove('thrice', '?empty=1');
    await fill('thrice', 1);
    await remove('thrice', '?empty=1');
    await remove('thrice');
    const done = await undo({ restorePoint: 'thrice' });
    expect([restored(done), left(done)]).toEqual([[['thrice', 'emptied', 2]], []]);
    expect((await list('thrice')).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
  });

  it('says which are erased', async () => {
    await fill('erased', 2);
    await mark('erased');
    await remove('erased');
    const gone = `${platform}/trash/collections/erased`;
    expect((await call('DELETE', gone)).status).toBe(200);
    const answer = await undo({ restorePoint: 'erased' });
    expect([restored(answer), left(answer)]).toEqual([[], [['erased', 'erased']]]);
  });

  it('is as good where processes die at every second step', async () => {
    const made = await fill('dying', 3);
    await mark('dying');
    await call('PATCH', `/db/dying/${made[0]?.id}`, { data: { n: 7 } }, agent);
    await remove('dying');
    let commits = 0;
    const dying: Database = {
      ...bed.database,
      transaction: (work, options) =>
        bed.database.transaction(async () => {
          const result = await work();
          commits += 1;
          if (commits % 2 !== 0) throw new Error('killed');
          return result;
        }, options),
    };
    const runners = [dying, bed.database].map((database) =>
      createUndoRunner({
        database,
        collections: createCollections({
          database,
          outbox: { append: async () => {} } as never,
          slots: { pin: async () => {} },
          places: placeLimits,
          historyDays: 7,
          now: bed.clock.now,
        }),
        send: createSendChange(database),
        checks: checksWithout(bed.database),
        quota: { isFull: async () => false },
        now: bed.clock.now,
      }),
    );
    const [started] = await Promise.all([
      call('POST', `${platform}/undo`, { restorePoint: 'dying' }),
      until(async () => {
        await Promise.allSettled(runners.map((runner) => runner.run()));
        return commits >= 3;
      }),
    ]);
    const done = await untilDone(started.body.id);
    expect(done).toMatchObject({ updated: 1, notUndone: [] });
    expect(restored(done)).toEqual([['dying', 'deleted', 3]]);
    await until(async () => (await list('dying')).length === 3);
    expect((await list('dying')).map(({ n }) => n)).toEqual([0, 1, 2]);
  });
});
