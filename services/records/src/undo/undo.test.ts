import { createHash, randomUUID } from 'node:crypto';
import { type Undo, undoRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { encodeCursor } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, asUser, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFoundCollections } from '../collections/table/found-collections.ts';
import { createSendChange } from '../record/change/send-change.ts';
import { collectionsPath } from '../testing/calls.ts';
import { ada, bob, checksWithout, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { undoCalls } from '../testing/undo-calls.ts';
import { createUndoRunner } from './run-undo.ts';

const platform = `/platform/projects/${testProject.id}`;
const [asAda, asBob] = [asUser(ada), asUser(bob)];
const agent = asKey();
const agentsName = `key:${agent.keyId}`;
const actors: readonly Identity[] = [asAda, asBob, agent, asOwner()];

describe('undo', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.create('strangers', { a: 1 });
    await bed.call('POST', `${platform}/restore-points`, {
      identity: asOwner(),
      body: { name: 'there' },
    });
  });
  afterAll(async () => {
    expect(bed.errors).toEqual([]);
    await bed.close();
  });

  const call = (method: string, path: string, body?: object, identity: Identity = asOwner()) =>
    bed.call(method, path, { identity, ...(body && { body }) });
  const set = async (name: string, body: object) =>
    expect((await call('PUT', `${collectionsPath}/${name}`, body)).status).toBe(200);
  const mark = async (name: string) =>
    expect((await call('POST', `${platform}/restore-points`, { name })).status).toBe(201);
  const { undo, untilDone } = undoCalls(() => bed);
  /** All that there is in a collection, with what is kept beside its records. */
  const snapshot = async (name: string) => {
    const key = [testProject.number, name];
    const own = 'SELECT coll_id FROM collections WHERE project_id = $1 AND name = $2';
    const [records, claims, words] = await Promise.all([
      bed.database.query(
        `SELECT id, owner_id, group_id, created_at, data::text FROM records WHERE project_id = $1 AND coll_id = (${own}) ORDER BY id`,
        key,
      ),
      bed.database.query(
        `SELECT number, key, record_id FROM unique_values WHERE project_id = $1 AND coll_id = (${own}) ORDER BY 1, 2`,
        key,
      ),
      bed.database.query(
        `SELECT record_id FROM search_texts WHERE project_id = $1 AND coll_id = (${own}) ORDER BY 1`,
        key,
      ),
    ]);
    const { body } = await call('GET', `/db/${name}/_count`);
    return { records, claims, words, count: body.count };
  };
  const nothing = { created: 0, updated: 0, deleted: 0, conflictCount: 0 };

  const requests = [
    [undoRoutes.listTrash, '/trash', undefined],
    [undoRoutes.createRestorePoint, '/restore-points', { name: 'x' }],
    [undoRoutes.listRestorePoints, '/restore-points', undefined],
    [undoRoutes.deleteRestorePoint, '/restore-points/there', undefined],
    [undoRoutes.undoChanges, '/undo', { restorePoint: 'there' }],
    [undoRoutes.getUndo, '/undo/018f0000-0000-7000-8000-0000000000a1', undefined],
  ] as const;
  for (const [route, end, body] of requests)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${testProject.id}${end}`, body }),
    );

  const operation = fc.record({
    kind: fc.constantFrom('create', 'patch', 'replace', 'delete', 'upsert', 'swap'),
    by: fc.constantFrom(...actors),
    pick: fc.nat(),
    code: fc.integer({ min: 0, max: 6 }),
    n: fc.integer({ min: 0, max: 3 }),
  });
  type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

  /** What is refused changes nothing. */
  const apply = async (name: string, ids: string[], { kind, by, pick, code, n }: Operation) => {
    const id = ids[pick % Math.max(1, ids.length)];
    const data = { code: `c${code}`, n, text: `word${n}` };
    const path = `/db/${name}/${id}`;
    if (kind === 'create' || id === undefined) {
      const { status, body } = await call('POST', `/db/${name}`, { data }, by);
      if (status === 201) ids.push(body.id);
    } else if (kind === 'patch') await call('PATCH', path, { data: { n } }, by);
    else if (kind === 'replace') await call('PUT', path, { data }, by);
    else if (kind === 'delete') await call('DELETE', path, undefined, by);
    else if (kind === 'upsert') await call('PUT', `${path}?upsert=1`, { data }, by);
    else {
      const update = [id, ids[(pick + 1) % ids.length]].map((other, i) => ({
        id: other,
        data: { code: `c${(code + i) % 7}` },
      }));
      await call('POST', `/db/${name}/_batch`, { update }, by);
    }
  };

  it('brings back what there was at a restore point or a time, and changes nothing the second time', async () => {
    let run = 0;
    const before = fc.array(operation, { minLength: 4, maxLength: 10 });
    const after = fc.array(operation, { minLength: 5, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(before, after, async (first, then) => {
        const name = `model${run++}`;
        await set(name, { access: 'shared', unique: ['code'], search: true });
        await until(async () => {
          const { body } = await call('GET', collectionsPath);
          const found = body.items.find((one: { name: string }) => one.name === name);
          return found?.unique[0]?.state === 'ready' && found.search?.state === 'ready';
        });
        const ids: string[] = [];
        for (const one of first) await apply(name, ids, one);
        await mark(name);
        const was = await snapshot(name);
        const sinceMs = Date.now() + 1;
        await until(async () => Date.now() > sinceMs);
        const since = new Date(sinceMs).toISOString();
        const place = { ...(run % 2 ? { restorePoint: name } : { since }), collections: [name] };
        for (const one of then) await apply(name, ids, one);
        const dry = await undo({ ...place, dryRun: true });
        const done = await undo(place);
        expect(done).toMatchObject({ state: 'done', conflictCount: 0 });
        expect({ ...dry, ...done }).toMatchObject(counts(dry));
        expect(await snapshot(name)).toEqual(was);
        expect(await undo(place)).toMatchObject(nothing);
        // An undo is a change, which another one takes back.
        expect(await undo({ ...place, requestId: `undo:${done.id}` })).toMatchObject({
          created: done.deleted,
          deleted: done.created,
          updated: done.updated,
        });
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
  const counts = ({ created, updated, deleted }: Undo) => ({ created, updated, deleted });

  it('takes back what one actor has done, and leaves alone and lists what others changed since', async () => {
    const [kept, touched, gone] = await Promise.all(
      [1, 2, 3].map((n) => bed.create('acts', { n }, asAda)),
    );
    const path = (record: { id: string } | undefined) => `/db/acts/${record?.id}`;
    await mark('acts');
    await call('PATCH', path(kept), { data: { n: 10 } }, asAda);
    for (const record of [kept, touched])
      await call('PATCH', path(record), { data: { n: 20 } }, agent);
    await call('PATCH', path(touched), { data: { m: 1 } }, asAda);
    await call('DELETE', path(gone), undefined, agent);
    const { body: made } = await call('POST', '/db/acts', { data: { n: 4 } }, agent);
    const request = { restorePoint: 'acts', actor: agentsName };
    expect(await undo(request)).toMatchObject({
      created: 1,
      updated: 1,
      deleted: 1,
      conflictCount: 1,
      conflicts: [{ collection: 'acts', id: touched?.id, reason: 'changed' }],
    });
    const now = async (record: { id: string } | undefined) =>
      (await call('GET', path(record))).body;
    expect(await now(kept)).toMatchObject({ n: 10 });
    expect(await now(touched)).toMatchObject({ n: 20, m: 1 });
    expect(await now(gone)).toMatchObject({ n: 3, ownerId: ada, createdAt: gone?.createdAt });
    expect((await now(made)).code).toBe('not_found');
    expect(await undo(request)).toMatchObject({ ...nothing, conflictCount: 1 });
    // The agent does it again: what the undo has left is what there should be.
    await call('DELETE', path(gone), undefined, agent);
    await call('PATCH', path(kept), { data: { n: 30 } }, agent);
    expect(await undo(request)).toMatchObject({ created: 1, updated: 1, deleted: 0 });
    expect(await now(kept)).toMatchObject({ n: 10 });
  });

  it('is right where values are unique, schemas have changed, and users may have so many records', async () => {
    await set('bound', { access: 'shared', unique: ['code'], limits: { perUser: 2 } });
    const [a, b] = await Promise.all(
      ['a', 'b'].map((code) => bed.create('bound', { code }, asAda)),
    );
    const old = await bed.create('bound', { code: 'old', n: 'text' }, asBob);
    await mark('bound');
    const swapped = [
      { id: a?.id, data: { code: 'b' } },
      { id: b?.id, data: { code: 'a' } },
    ];
    await call('POST', '/db/bound/_batch', { update: swapped });
    await call('DELETE', `/db/bound/${old.id}`);
    await set('bound', { schema: { properties: { n: { type: 'number' } } } });
    const request = { restorePoint: 'bound', collections: ['bound'] };
    expect(await undo(request)).toMatchObject({
      updated: 2,
      conflicts: [{ id: old.id, reason: 'schema_mismatch' }],
    });
    expect((await call('GET', `/db/bound/${a?.id}`)).body.code).toBe('a');
    await set('bound', { schema: null });
    expect(await undo(request)).toMatchObject({ created: 1, updated: 0, conflicts: [] });
    const more = ['x', 'y'].map((code) => call('POST', '/db/bound', { data: { code } }, asBob));
    expect((await Promise.all(more)).map(({ status }) => status).sort()).toEqual([201, 403]);
  });

  it('ends with the same, whatever dies under it and however many work on it', async () => {
    const create = Array.from({ length: 500 }, (_, n) => ({ data: { n } }));
    const { body } = await call('POST', '/db/dying/_batch', { create });
    const ids = (body.create as { id: string }[]).map(({ id }) => id);
    await mark('dying');
    const was = await snapshot('dying');
    await call('POST', '/db/dying/_batch', { delete: ids.slice(0, 300) }, agent);
    const update = ids.slice(300).map((id) => ({ id, data: { n: -1 } }));
    await call('POST', '/db/dying/_batch', { update }, agent);
    await call('POST', '/db/dying/_batch', { create: create.slice(0, 100) }, agent);
    let commits = 0;
    const dying: Database = {
      ...bed.database,
      transaction: (work, options) =>
        bed.database.transaction(async () => {
          const result = await work();
          if (!bed.database.isInTransaction()) throw new Error('no transaction');
          commits += 1;
          if (commits % 3 !== 0) throw new Error('killed');
          return result;
        }, options),
    };
    const outbox = { append: async () => {} };
    const collections = createFoundCollections(bed.database, outbox as never, Date.now);
    const runners = [dying, bed.database].map((database) =>
      createUndoRunner({
        database,
        collections: { ...collections, bringBack: async () => {} },
        send: createSendChange(database),
        checks: checksWithout(bed.database),
        quota: { isFull: async () => false },
        now: Date.now,
      }),
    );
    const [started] = await Promise.all([
      call('POST', `${platform}/undo`, { restorePoint: 'dying', actor: agentsName }),
      until(async () => {
        await Promise.allSettled(runners.map((runner) => runner.run()));
        return commits >= 3;
      }),
    ]);
    expect(await untilDone(started.body.id)).toMatchObject({
      created: 300,
      updated: 200,
      deleted: 100,
      conflicts: [],
    });
    expect(await snapshot('dying')).toEqual(was);
  });

  it('leaves what the platform has written, such as a payment', async () => {
    const order = await bed.create('orders', { items: [{ product: 'mug' }] }, asAda);
    const path = `/db/orders/${order.id}`;
    await mark('orders');
    await call('PATCH', path, { data: { note: 'soon' } }, agent);
    const { id: projectId, number: projectNumber } = testProject;
    const items = [{ name: 'Mug', amount: 5, quantity: 1, product: 'mug' }];
    const payment = { id: randomUUID(), sessionId: 'cs_1', amount: 5, currency: 'usd', items };
    const settled = { livemode: false, paidAt: '2026-01-01T00:00:00.000Z' };
    const record = { projectId, projectNumber, collection: 'orders', recordId: order.id };
    const paid = { ...record, set: { status: 'paid' }, payment: { ...payment, ...settled } };
    await bed.bus.publish({ id: randomUUID(), topic: 'record.paid', payload: paid });
    await until(async () => (await call('GET', path)).body.status === 'paid');
    const request = { restorePoint: 'orders', collections: ['orders'] };
    expect(await undo(request)).toMatchObject({
      ...nothing,
      conflictCount: 1,
      conflicts: [{ id: order.id, reason: 'changed' }],
    });
    await call('PATCH', path, { data: { note: 'later' } }, agent);
    expect((await call('GET', path)).body).toMatchObject({ status: 'paid', note: 'later' });
  });

  it('refuses what it can not do', async () => {
    await bed.create('other', { n: 1 });
    const refused = async (request: object) =>
      (await call('POST', `${platform}/undo`, request)).body.code;
    expect(await refused({})).toBe('invalid_body');
    expect(await refused({ since: '2020-01-01T00:00:00Z' })).toBe('conflict');
    expect(await refused({ since: '2999-01-01T00:00:00Z' })).toBe('invalid_body');
    expect(await refused({ restorePoint: 'nowhere' })).toBe('not_found');
    const since = new Date(Date.now() - 60_000).toISOString();
    expect(await refused({ since, collections: ['nowhere'] })).toBe('not_found');
    expect(await refused({ since, requestId: 'a\u0000b' })).toBe('invalid_body');
    expect(await refused({ restorePoint: 'a\u0000b' })).toBe('invalid_body');
    expect((await call('DELETE', `${platform}/restore-points/a%00b`)).status).toBe(404);
    const scope = { list: ['trash', testProject.number, null] };
    const far = ['9'.repeat(20), 0, randomUUID()];
    const sum = createHash('sha256').update(JSON.stringify(['cursor', scope.list, '{']));
    const noJson = Buffer.concat([sum.digest().subarray(0, 16), Buffer.from('{')]);
    const forged = [encodeCursor(far, scope), noJson.toString('base64url')];
    for (const cursor of forged)
      expect((await call('GET', `${platform}/trash?cursor=${cursor}`)).body.code).toBe(
        'invalid_cursor',
      );
    await set('other', { history: false });
    expect(await refused({ since, collections: ['other'] })).toBe('conflict');
    expect((await call('POST', `${platform}/restore-points`, { name: 'there' })).body.code).toBe(
      'conflict',
    );
    expect((await call('DELETE', `${platform}/restore-points/there`)).status).toBe(200);
    expect((await call('DELETE', `${platform}/restore-points/there`)).status).toBe(404);
  });

  it('names collections that were deleted or emptied meanwhile and are erased', async () => {
    const since = new Date(Date.now() - 1).toISOString();
    for (const name of ['ended', 'emptied', 'kept']) {
      await set(name, { history: false });
      await bed.create(name, { n: 1 }, asAda);
    }
    await call('DELETE', `${collectionsPath}/ended`, undefined, agent);
    await call('DELETE', `${collectionsPath}/emptied?empty=1`);
    const shown = async (request: object) =>
      (await undo({ since, dryRun: true, ...request })).notUndone.map(
        ({ collection, how, records }) => [collection, how, records],
      );
    const both = [
      ['emptied', 'emptied', 1],
      ['ended', 'deleted', 1],
    ];
    expect(await shown({})).toEqual(both);
    expect(await shown({ actor: agentsName })).toEqual(both.slice(1));
    for (const name of ['emptied', 'kept']) await set(name, { history: true });
    expect(await shown({ collections: ['emptied', 'kept'] })).toEqual(both.slice(0, 1));
    expect(await shown({ since: new Date().toISOString() })).toEqual([]);
  });

  it('shows what was deleted, newest first, page by page', async () => {
    const made = [];
    for (let n = 0; n < 5; n++) made.push(await bed.create('thrown', { n }, asAda));
    for (const { id } of made) await call('DELETE', `/db/thrown/${id}`, undefined, agent);
    await call('PUT', `/db/thrown/${made[1]?.id}?upsert=1`, { data: { n: 9 } }, agent);
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `${platform}/trash?collection=thrown&limit=2${cursor}`);
      for (const { record, by, collection, seq } of body.items) {
        expect([collection, by, record.ownerId]).toEqual(['thrown', agentsName, ada]);
        seen.push(record.n);
        if (record.n === 0)
          expect(
            (await call('POST', `/db/thrown/${record.id}/_restore`, { seq })).body,
          ).toMatchObject({ n: 0, createdAt: record.createdAt });
      }
      cursor = `&cursor=${body.nextCursor}`;
      if (!body.hasMore) break;
    } while (seen.length < 10);
    expect(seen).toEqual([4, 3, 2, 0]);
    const { body } = await call('GET', `${platform}/trash?collection=thrown`);
    expect(body.items).toHaveLength(3);
  });
});
