import { randomUUID } from 'node:crypto';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('PUT with ?upsert=1', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const newId = (ageMs = 0) => {
    const time = (bed.clock.now() - ageMs).toString(16).padStart(12, '0');
    const random = randomUUID();
    return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
  };
  const upsert = (id: string, data: object, identity = asUser(ada), headers = {}) =>
    bed.call('PUT', `/db/drafts/${id}?upsert=1`, { identity, body: { data }, headers });

  it('lets those in who may create, also where nobody may change or read', async () => {
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/letters`, {
      identity: asOwner(),
      body: { access: 'append-only' },
    });
    const write = (id: string, identity: Identity) =>
      bed.call('PUT', `/db/letters/${id}?upsert=1`, { identity, body: { data: { n: 1 } } });
    for (const [identity, again] of [
      [anonymous(), 401],
      [asUser(ada), 404],
    ] as const) {
      const id = newId();
      expect((await write(id, identity)).status).toBe(201);
      expect((await write(id, identity)).status).toBe(again);
    }
  });

  it('is created where it is absent, replaced where it is there, and counted once', async () => {
    const id = newId();
    const created = await upsert(id, { n: 1 });
    expect(created).toMatchObject({ status: 201, body: { id, n: 1, ownerId: ada } });
    expect(created.body.updatedAt >= created.body.createdAt).toBe(true);
    bed.clock.pass(10);
    const replaced = await upsert(id, { n: 2 });
    expect(replaced.status).toBe(200);
    expect(replaced.body).toEqual({ ...created.body, n: 2, updatedAt: replaced.body.updatedAt });
    expect((await bed.call('GET', `/db/drafts/${id}`)).body).toEqual(replaced.body);
    expect((await bed.call('GET', '/db/drafts/_count')).body).toEqual({ count: 1 });
    expect(await upsert(id, {}, asUser(bob))).toMatchObject({ status: 403 });
  });

  it('is made once by twenty who send it at once', async () => {
    const id = newId();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => upsert(id, { n })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(19).fill(200), 201]);
    const { body } = await bed.call('GET', `/db/drafts?where=${JSON.stringify({ id })}`);
    expect(body.items).toHaveLength(1);
  });

  it('finds the record or makes it while others delete it', async () => {
    const id = newId();
    const seen = new Set<number>();
    const remove = () => bed.call('DELETE', `/db/drafts/${id}`, { identity: asUser(ada) });
    for (let round = 0; round < 40; round++) {
      const writes = Promise.all([1, 2, 3].map((n) => upsert(id, { n })));
      await Promise.all([remove(), writes, remove(), remove()]);
      for (const { status } of await writes) seen.add(status);
    }
    expect([...seen].filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
  });

  it('takes an id in upper case as the same in lower case, and pages go on behind it', async () => {
    const id = newId();
    const write = (data: object) =>
      bed.call('PUT', `/db/capitals/${id.toUpperCase()}?upsert=1`, { body: { data } });
    for (const n of [1, 2]) expect((await write({ n })).body).toMatchObject({ id, n });
    const older = await bed.call('PUT', `/db/capitals/${newId(1000)}?upsert=1`, {
      body: { data: {} },
    });
    const first = await bed.call('GET', '/db/capitals?limit=1');
    expect(first.body.items).toMatchObject([{ id }]);
    const next = await bed.call('GET', `/db/capitals?limit=1&cursor=${first.body.nextCursor}`);
    expect(next.body).toMatchObject({ items: [{ id: older.body.id }], hasMore: false });
  });

  it('takes no other id than a new UUIDv7', async () => {
    const day = 24 * 60 * 60_000;
    const ofNoVariant = `${newId().slice(0, 19)}c${newId().slice(20)}`;
    for (const id of [newId(day + 1), newId(-120_000), randomUUID(), ofNoVariant, 'x'])
      expect(await upsert(id, {})).toMatchObject({ status: 400, body: { code: 'invalid_path' } });
    for (const id of [newId(day - 30_000), newId(-30_000)])
      expect((await upsert(id, {})).status).toBe(201);
    expect((await bed.call('PUT', `/db/drafts/${newId()}`, { body: { data: {} } })).status).toBe(
      404,
    );
    const versioned = { 'if-match': '"1"' };
    expect((await upsert(newId(), {}, asUser(ada), versioned)).status).toBe(404);
  });

  it('makes a record under a user’s id for this user and the project’s own callers alone', async () => {
    const year = 365 * 24 * 60 * 60_000;
    for (const user of [newId(3 * year), newId()]) {
      bed.people.set(user, { role: 'user', groups: [] });
      for (const [identity, status] of [
        [anonymous(), user === [...bed.people.keys()][0] ? 400 : 403],
        [asUser(bob), user === [...bed.people.keys()][0] ? 400 : 403],
        [asUser(user), 201],
        [asUser(user), 200],
      ] as const)
        expect((await upsert(user, { n: 1 }, identity)).status).toBe(status);
      const read = await bed.call('GET', `/db/drafts/${user}`);
      expect(read.body).toMatchObject({ id: user, ownerId: user });
      expect(Date.parse(read.body.createdAt)).toBe(
        Number.parseInt(user.replace('-', '').slice(0, 12), 16),
      );
    }
    const old = newId(year);
    bed.people.set(old, { role: 'user', groups: [] });
    expect((await upsert(old, {}, asKey())).status).toBe(201);
  });

  it('gives a record that is made again under its id another version', async () => {
    const id = newId(1000);
    const first = await upsert(id, { n: 1 });
    await bed.call('DELETE', `/db/drafts/${id}`, { identity: asUser(ada) });
    bed.clock.pass(1);
    const second = await upsert(id, { n: 2 });
    expect(second.status).toBe(201);
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
    const read = await bed.call('GET', `/db/drafts/${id}`);
    expect(read.body).toEqual(second.body);
    expect(read.headers.get('etag')).toBe(second.headers.get('etag'));
  });
});
