import { type HistoryEntry, historyRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collectionsPath } from '../testing/calls.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const [asAda, asBob] = [asUser(ada), asUser(bob)];

describe('the history of a record', () => {
  let bed: TestBed;
  let record = '';
  beforeAll(async () => {
    bed = await createTestBed();
    record = `/db/strangers/${(await bed.create('strangers', { n: 1 })).id}`;
  });
  afterAll(() => bed.close());

  const set = (name: string, body: object) =>
    bed.call('PUT', `${collectionsPath}/${name}`, { identity: asOwner(), body });
  const patch = (path: string, data: object, identity: Identity = asAda) =>
    bed.call('PATCH', path, { identity, body: { data } });
  const history = (path: string, identity: Identity = asAda, query = '') =>
    bed.call('GET', `${path}/_history${query}`, { identity });
  const entries = async (path: string, identity?: Identity): Promise<HistoryEntry[]> =>
    (await history(path, identity)).body.items;
  const restore = (path: string, seq: unknown, identity: Identity = asAda) =>
    bed.call('POST', `${path}/_restore`, { identity, body: { seq } });
  const seqOf = async (path: string, index: number) => (await entries(path, asOwner()))[index]?.seq;

  refusesStrangers(
    historyRoutes.getHistory,
    () => bed.http,
    () => ({ path: `${record}/_history` }),
  );
  refusesStrangers(
    historyRoutes.restoreRecord,
    () => bed.http,
    () => ({ path: `${record}/_restore`, body: { seq: 1 } }),
  );

  it('says what there was before and after each change, newest first, page by page', async () => {
    const { id } = await bed.create('notes', { n: 0 }, asAda);
    const path = `/db/notes/${id}`;
    for (let n = 1; n <= 3; n++) await patch(path, { n });
    await bed.call('DELETE', path, { identity: asAda });
    await bed.call('PUT', `${path}?upsert=1`, { identity: asAda, body: { data: { n: 9 } } });
    await patch(path, { n: 10 });
    const all = await entries(path);
    const seen = all.map(({ type, before, after }) => [type, before?.n, after?.n]);
    expect(seen).toEqual([
      ['update', 9, 10],
      ['create', undefined, 9],
      ['delete', 3, undefined],
      ['update', 2, 3],
      ['update', 1, 2],
      ['update', 0, 1],
      ['create', undefined, 0],
    ]);
    const seqs = all.map(({ seq }) => seq as number);
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
    expect(new Set(seqs).size).toBe(7);
    expect(all[2]?.before).toMatchObject({ id, ownerId: ada, createdAt: all[6]?.changedAt });
    const paged: HistoryEntry[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await history(path, asAda, `?limit=2${cursor}`);
      paged.push(...body.items);
      if (!body.hasMore) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(paged).toEqual(all);
    expect((await history(path, asAda, '?cursor=abc')).body.code).toBe('invalid_cursor');
  });

  it('tells who has made a change to the owner, to keys, and to the user themself', async () => {
    const { id } = await bed.create('told', { n: 0 }, asAda);
    const path = `/db/told/${id}`;
    await patch(path, { n: 1 });
    await patch(path, { n: 2 }, asKey());
    const by = async (identity: Identity) =>
      (await entries(path, identity)).slice(0, 2).map((entry) => entry.by);
    const both = [expect.stringMatching(/^key:/), `user:${ada}`];
    expect(await by(asOwner())).toEqual(both);
    expect(await by(asKey())).toEqual(both);
    expect(await by(asAda)).toEqual([undefined, `user:${ada}`]);
    expect(await by(asBob)).toEqual([undefined, undefined]);
    const made = async (identity: Identity) => (await entries(path, identity)).at(-1);
    expect(await made(asKey())).toMatchObject({ type: 'create', seq: expect.any(Number) });
    expect((await made(asKey()))?.by).toBe(`user:${ada}`);
    expect((await made(asAda))?.by).toBe(`user:${ada}`);
    expect((await made(asBob))?.by).toBeUndefined();
    const seq = (await made(asAda))?.seq;
    expect((await restore(path, seq, asAda)).status).toBe(404);
  });

  it('shows nobody more than they could read, of the record as it is and as it was', async () => {
    const when = { where: { public: true }, to: ['anyone'] };
    const access = {
      read: ['owner', when],
      create: ['users'],
      change: ['owner'],
      fields: { secret: { read: ['owner'] } },
    };
    expect((await set('posts', { access })).status).toBe(200);
    const { id } = await bed.create('posts', { public: false, text: 'draft', secret: 1 }, asAda);
    const path = `/db/posts/${id}`;
    await patch(path, { text: 'still a draft' });
    expect((await history(path, asBob)).status).toBe(404);
    await patch(path, { public: true, text: 'out' });
    await patch(path, { text: 'out again', secret: 2 });
    const seen = await entries(path, asBob);
    expect(seen.map(({ before, after }) => [before?.text, after?.text])).toEqual([
      ['out', 'out again'],
      [undefined, 'out'],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(JSON.stringify(seen)).not.toMatch(/secret|draft/);
    expect((await entries(path))[0]?.before).toMatchObject({ secret: 1 });
    await patch(path, { public: false });
    await bed.call('DELETE', path, { identity: asAda });
    expect((await history(path, asBob)).status).toBe(404);
    expect((await history(path, anonymous())).status).toBe(404);
    expect((await entries(path))[0]).toMatchObject({
      type: 'delete',
      before: { text: 'out again' },
    });
  });

  it('shows a record that is gone to those with whom it was shared', async () => {
    await set('lent', {
      access: { read: ['owner', 'shared'], create: ['users'], change: ['owner'] },
    });
    const { id } = await bed.create('lent', { n: 1 }, asAda);
    const path = `/db/lent/${id}`;
    await bed.call('PUT', `${path}/_shares`, {
      identity: asAda,
      body: { userId: bob, may: 'read' },
    });
    await bed.call('DELETE', path, { identity: asAda });
    expect((await entries(path, asBob))[0]?.before).toMatchObject({ n: 1 });
    expect((await history(path, asUser('018f0000-0000-7000-8000-0000000000c1'))).status).toBe(404);
    expect((await restore(path, await seqOf(path, 0), asBob)).status).toBe(403);
  });

  it('brings back what there was before a change, and a deleted record under its id with its owner', async () => {
    const { id, createdAt } = await bed.create('back', { n: 0, big: 1e300 }, asAda);
    const path = `/db/back/${id}`;
    await patch(path, { n: 1, more: true });
    const restored = await restore(path, await seqOf(path, 0));
    expect(restored).toMatchObject({ status: 200, body: { id, n: 0, big: 1e300 } });
    expect(restored.body.more).toBeUndefined();
    const { body: last } = await bed.call('GET', path, { identity: asAda });
    await bed.call('DELETE', path, { identity: asAda });
    expect((await restore(path, await seqOf(path, 0), asBob)).status).toBe(403);
    const { status, body } = await restore(path, await seqOf(path, 0), asKey());
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, ownerId: ada, createdAt, n: 0 });
    expect(body.updatedAt > last.updatedAt).toBe(true);
    expect((await restore(path, 12345)).body.code).toBe('not_found');
    expect((await restore(path, -1)).body.code).toBe('invalid_body');
    expect((await restore('/db/back/none', 1)).body.code).toBe('not_found');
  });

  it('keeps what the caller may not change, also of a record that they have deleted', async () => {
    const access = {
      read: ['anyone'],
      create: ['users'],
      change: ['owner'],
      fields: { state: { change: ['role:staff'] } },
    };
    await set('orders', { access });
    const { id } = await bed.create('orders', { n: 1 }, asAda);
    const path = `/db/orders/${id}`;
    await patch(path, { state: 'open' }, asKey());
    await patch(path, { n: 2 });
    await patch(path, { state: 'refused' }, asKey());
    expect((await restore(path, await seqOf(path, 1))).body).toMatchObject({
      n: 1,
      state: 'refused',
    });
    await bed.call('DELETE', path, { identity: asAda });
    const opened = (await entries(path, asOwner())).find(({ before }) => before?.state === 'open');
    expect((await restore(path, opened?.seq)).body).toMatchObject({ n: 2, state: 'refused' });
  });

  it('restores within unique values, schema and limits', async () => {
    await set('bound', { unique: ['code'], limits: { perUser: 1 } });
    const { id } = await bed.create('bound', { code: 'a' }, asAda);
    const path = `/db/bound/${id}`;
    await patch(path, { code: 'b' });
    const { id: other } = await bed.create('bound', { code: 'a' }, asBob);
    const seq = await seqOf(path, 0);
    expect((await restore(path, seq)).body.code).toBe('not_unique');
    await bed.call('DELETE', `/db/bound/${other}`, { identity: asBob });
    await bed.call('DELETE', path, { identity: asAda });
    const { id: next } = await bed.create('bound', { code: 'c' }, asAda);
    expect((await restore(path, seq)).body.code).toBe('limit_reached');
    await bed.call('DELETE', `/db/bound/${next}`, { identity: asAda });
    await set('bound', { schema: { properties: { code: { enum: ['b'] } } } });
    expect((await restore(path, seq)).body.code).toBe('schema_mismatch');
    await set('bound', { schema: null });
    expect((await restore(path, seq)).body).toMatchObject({ id, code: 'a', ownerId: ada });
    const again = await bed.call('POST', '/db/bound', { identity: asAda, body: { data: {} } });
    expect(again.body.code).toBe('limit_reached');
    await set('bound', { history: false });
    expect((await history(path)).body).toMatchObject({
      code: 'conflict',
      hint: expect.any(String),
    });
  });
});
