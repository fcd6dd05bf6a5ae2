import { randomUUID } from 'node:crypto';
import { asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createCollections } from '../collections/collections.ts';
import { placeLimits } from '../collections/table/places.ts';
import { createSendChange, type SendChange } from '../record/change/send-change.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createUserEraser } from './erase-user.ts';

const { id: projectId, number: projectNumber } = testProject;
const asAda = asUser(ada);
const nobodyIsThere = { findRoleAndGroups: async () => null };

describe('the records of an erased user', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  let count = 0;
  let name: string;
  beforeEach(() => {
    name = `posts${++count}`;
  });

  const set = (body: object) =>
    bed.call('PUT', `/platform/projects/${projectId}/collections/${name}`, {
      identity: asOwner(),
      body,
    });
  const list = async (query = '') => {
    const path = `/db/${name}?limit=1000${query}`;
    return (await bed.call('GET', path, { identity: asOwner() })).body.items;
  };
  const erase = async (userId = ada) => {
    const payload = { projectId, projectNumber, userId, email: 'ada@example.org' };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.erased', payload });
    await until(async () => (await jobs()).length > 0);
    await makeDue();
  };
  const jobs = () => bed.database.query('SELECT * FROM user_erasures');
  /** As if all that the user had under way had ended. */
  const makeDue = () =>
    bed.database.query(`UPDATE user_erasures SET requested_at = now() - interval '1 hour'`);
  const createEraser = (send: SendChange = createSendChange(bed.database)) => {
    const { database, clock } = bed;
    const outbox = { append: async () => {} };
    const slots = { pin: async () => {} };
    const deps = { database, outbox, slots, places: placeLimits, now: clock.now };
    const collections = createCollections(deps as never);
    return createUserEraser({ database, collections, send, users: nobodyIsThere, now: clock.now });
  };
  const runToTheEnd = () =>
    until(async () => {
      await createEraser().run();
      return (await jobs()).length === 0;
    });

  it.each([
    [{ access: 'private' }, 'delete'],
    [{ access: { read: ['owner'], create: ['users'], change: [] } }, 'delete'],
    [
      {
        access: { read: [{ to: ['owner'], where: { by: 'ada' } }], create: ['users'], change: [] },
      },
      'delete',
    ],
    [{ access: 'members' }, 'keep'],
    [{ access: 'locked' }, 'keep'],
    [{ access: { read: ['owner', 'role:staff'], create: ['users'], change: [] } }, 'keep'],
    [{ access: 'private', onErase: 'keep' }, 'keep'],
    [{ access: 'members', onErase: 'delete' }, 'delete'],
  ])('with %j: %s', async (settings, onErase) => {
    expect((await set(settings)).body.onErase).toBe(onErase);
    await bed.call('POST', `/db/${name}`, { identity: asAda, body: { data: { by: 'ada' } } });
    await bed.call('POST', `/db/${name}`, {
      identity: asUser(bob),
      body: { data: { by: 'bob' } },
    });
    const before = await list();
    await erase();
    await runToTheEnd();
    const after = before.filter(({ by }: { by: string }) => by === 'bob' || onErase === 'keep');
    expect(await list()).toEqual(after);
  });

  it('are left to nobody each where they are made anonymous, and found by no index', async () => {
    await set({ access: 'members', onErase: 'anonymise', indexes: ['ownerId'] });
    for (let n = 0; n < 120; n++) await bed.create(name, { n }, n % 2 ? asAda : asUser(bob));
    const before = await list();
    await erase();
    await runToTheEnd();
    const after = await list();
    expect(after).toHaveLength(120);
    const byId = new Map(after.map((record: { id: string }) => [record.id, record]));
    const owners = new Set<string>();
    for (const record of before) {
      const { ownerId, updatedAt, ...rest } = byId.get(record.id) as typeof record;
      if (record.ownerId === bob) expect({ ...rest, ownerId, updatedAt }).toEqual(record);
      else {
        expect(record).toMatchObject(rest);
        expect(updatedAt > record.updatedAt).toBe(true);
        owners.add(ownerId);
      }
    }
    expect(owners.size).toBe(60);
    expect(owners.has(ada)).toBe(false);
    const where = (ownerId: string) => `&where=${encodeURIComponent(JSON.stringify({ ownerId }))}`;
    expect(await list(where(ada))).toEqual([]);
    for (const ownerId of owners) expect(await list(where(ownerId))).toHaveLength(1);
  });

  it('free what was theirs alone where they are made anonymous, without claiming it for each other', async () => {
    await set({
      access: 'members',
      onErase: 'anonymise',
      unique: [['post', 'ownerId'], 'ownerId'],
    });
    const key = [projectNumber, name];
    const claims = () =>
      bed.database.query<{ record_id: string; key: string }>(
        `SELECT record_id, encode(key, 'hex') AS key FROM unique_values WHERE project_id = $1 AND coll_id =
           (SELECT coll_id FROM collections WHERE project_id = $1 AND name = $2) ORDER BY record_id, key`,
        key,
      );
    const carol = '018f0000-0000-7000-8000-0000000000c1';
    for (const identity of [asAda, asUser(carol), asUser(bob)])
      await bed.create(name, { post: 1 }, identity);
    const before = await claims();
    for (const userId of [ada, carol]) await erase(userId);
    await runToTheEnd();
    const after = await claims();
    expect(after.map(({ record_id }) => record_id)).toEqual(
      before.map(({ record_id }) => record_id),
    );
    const kept = after.filter(({ key }) => before.some((claim) => claim.key === key));
    expect(kept).toHaveLength(2);
    await bed.create(name, { post: 1 }, asAda);
    expect(
      (
        await bed.call('POST', `/db/${name}`, {
          identity: asUser(bob),
          body: { data: { post: 1 } },
        })
      ).status,
    ).toBe(409);
  });

  it('lose what the server wrote of their maker, where they are made anonymous', async () => {
    const properties = {
      by: { 'x-set': 'owner' },
      name: { 'x-set': 'caller.name' },
      at: { 'x-set': 'now' },
    };
    await set({ access: 'members', onErase: 'anonymise', schema: { properties } });
    bed.names.set(ada, 'Ada');
    const made = await bed.create(name, { text: 'a' }, asAda);
    expect(made).toMatchObject({ by: ada, name: 'Ada' });
    await erase();
    await runToTheEnd();
    const [record] = await list();
    expect(record).toEqual({
      id: made.id,
      text: 'a',
      at: made.at,
      ownerId: expect.not.stringMatching(ada),
      createdAt: made.createdAt,
      updatedAt: expect.any(String),
    });
  });

  it('free what was unique, and are counted no more', async () => {
    await set({ access: 'members', onErase: 'delete', unique: ['slug'] });
    await bed.create(name, { slug: 'first' }, asAda);
    await erase();
    await runToTheEnd();
    await bed.create(name, { slug: 'first' }, asUser(bob));
    const { body } = await bed.call('GET', `/platform/projects/${projectId}/collections`, {
      identity: asOwner(),
    });
    expect(body.items).toContainEqual(expect.objectContaining({ name, count: 1 }));
  });

  it('go once and all, though the process dies again and again and others work beside it', async () => {
    await set({ access: 'private' });
    await bed.create(name, {}, asAda);
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), CASE WHEN n % 3 = 0 THEN $3::uuid ELSE $4::uuid END, now(), now(), '{}'
         FROM collections, generate_series(1, 2400) n WHERE project_id = $1 AND name = $2`,
      [projectNumber, name, ada, bob],
    );
    await erase();
    let calls = 0;
    const dying: SendChange = async (change) => {
      const changed = await createSendChange(bed.database)<never>(change);
      calls++;
      if (calls % 2 === 1) throw new Error('killed');
      return changed;
    };
    await until(async () => {
      const runs = [createEraser(dying).run(), createEraser().run(), createEraser(dying).run()];
      await Promise.allSettled(runs);
      return (await jobs()).length === 0;
    });
    const left = await bed.database.query<{ owner_id: string; count: number }>(
      `SELECT owner_id, count(*) FROM records WHERE project_id = $1 AND coll_id =
         (SELECT coll_id FROM collections WHERE project_id = $1 AND name = $2) GROUP BY owner_id`,
      [projectNumber, name],
    );
    expect(left).toEqual([{ owner_id: bob, count: 1600 }]);
  });

  it.each(['', '?empty=1'])(
    'go from deleted collections too, which come back without them: DELETE%s',
    async (query) => {
      await set({ access: 'members', onErase: 'delete', unique: ['slug'], search: true });
      const shared = await bed.create(name, { slug: 'bobs' }, asUser(bob));
      await bed.create(name, { slug: 'adas' }, asAda);
      const path = `/platform/projects/${projectId}`;
      const asked = { identity: asOwner() };
      await bed.call('DELETE', `${path}/collections/${name}${query}`, asked);
      await erase();
      await runToTheEnd();
      const left = await bed.database.query<{ owner_id: string }>(
        `SELECT owner_id FROM records WHERE project_id = $1 AND coll_id IN (
           SELECT coll_id FROM ended_collections WHERE project_id = $1 AND name = $2)`,
        [projectNumber, name],
      );
      expect(left).toEqual([{ owner_id: bob }]);
      const back = `${path}/collections/${name}/restore`;
      expect((await bed.call('POST', back, { ...asked, body: {} })).body.count).toBe(1);
      expect((await list()).map(({ id }: { id: string }) => id)).toEqual([shared.id]);
      await bed.create(name, { slug: 'adas' }, asUser(bob));
      const log = await bed.database.query('SELECT FROM changes WHERE old_owner = $1', [ada]);
      expect(log).toEqual([]);
    },
  );

  it('are looked for once all that the user had under way has ended', async () => {
    await set({ access: 'private' });
    await bed.create(name, {}, asAda);
    const payload = { projectId, projectNumber, userId: ada, email: 'ada@example.org' };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.erased', payload });
    await until(async () => (await jobs()).length > 0);
    await createEraser().run();
    expect(await list()).toHaveLength(1);
    expect(await jobs()).toHaveLength(1);
    await makeDue();
    await runToTheEnd();
    expect(await list()).toEqual([]);
  });

  it('end as by default again, where null takes the setting away', async () => {
    expect((await set({ access: 'private', onErase: 'keep' })).body.onErase).toBe('keep');
    expect((await set({ access: 'private' })).body.onErase).toBe('keep');
    expect((await set({ onErase: null })).body.onErase).toBe('delete');
  });

  it.each(['erase', '', true])('take no onErase %j', async (onErase) => {
    const answer = await set({ onErase });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });
});
