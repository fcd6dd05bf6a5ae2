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

describe('what a guest has, once it is a user’s', () => {
  let bed: TestBed;
  let guest: string;
  let name: string;
  let count = 0;
  beforeAll(async () => {
    bed = await createTestBed();
    bed.people.set(ada, { role: 'user', groups: [], emailVerified: true });
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    guest = `018f0000-0000-7000-8000-${String(++count).padStart(12, '0')}`;
    name = `things${count}`;
  });

  const set = (body: object) =>
    bed.call('PUT', `/platform/projects/${projectId}/collections/${name}`, {
      identity: asOwner(),
      body,
    });
  const make = (data: object, userId = guest) =>
    bed.call('POST', `/db/${name}`, { identity: asUser(userId), body: { data } });
  const list = async (identity = asAda) =>
    (await bed.call('GET', `/db/${name}?limit=1000`, { identity })).body.items;
  const jobs = () => bed.database.query('SELECT * FROM user_erasures');
  const createRunner = (send: SendChange = createSendChange(bed.database)) => {
    const { database, clock, people } = bed;
    const outbox = { append: async () => {} };
    const slots = { pin: async () => {} };
    const deps = { database, outbox, slots, places: placeLimits, now: clock.now };
    const collections = createCollections(deps as never);
    const users = { findRoleAndGroups: async (_: number, id: string) => people.get(id) ?? null };
    return createUserEraser({ database, collections, send, users, now: clock.now });
  };
  const runToTheEnd = () =>
    until(async () => {
      await createRunner().run();
      return (await jobs()).length === 0;
    });
  const tell = async (userId = ada, guestId = guest, project = projectNumber) => {
    const payload = { projectId, projectNumber: project, guestId, userId };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.merged', payload });
  };
  const merge = async (userId = ada) => {
    await tell(userId);
    await runToTheEnd();
  };

  it.each(['private', 'members', 'locked', 'public-read'])(
    'in a collection that is %s becomes theirs, and nobody else’s',
    async (access) => {
      await set({ access: 'private' });
      const mine = (await make({ n: 1 })).body;
      const bobs = (await make({ n: 2 }, bob)).body;
      await set({ access });
      await tell();
      await until(async () => {
        await createRunner().run();
        const [record] = await bed.database.query<{ owner_id: string }>(
          'SELECT owner_id FROM records WHERE id = $1',
          [mine.id],
        );
        return record?.owner_id === ada;
      });
      const all = await list(asOwner());
      const owners = Object.fromEntries(
        all.map(({ id, ownerId }: { id: string; ownerId: string }) => [id, ownerId]),
      );
      expect(owners).toEqual({ [mine.id]: ada, [bobs.id]: bob });
    },
  );

  it('can be changed and deleted by them, and by no token of the guest', async () => {
    await set({ access: 'private' });
    const made = (await make({ n: 1 })).body;
    await merge();
    const path = `/db/${name}/${made.id}`;
    const change = (identity = asAda) =>
      bed.call('PATCH', path, { identity, body: { data: { n: 2 } } });
    expect((await change(asUser(guest))).status).toBe(404);
    expect((await change()).body).toMatchObject({ n: 2, ownerId: ada });
    expect((await bed.call('DELETE', path, { identity: asAda })).status).toBe(200);
  });

  it('comes later is theirs too, once it is told again', async () => {
    await set({ access: 'private' });
    await make({ n: 1 });
    await merge();
    await make({ n: 2 });
    expect(await list()).toHaveLength(1);
    await merge();
    expect(await list()).toHaveLength(2);
  });

  it('names them where the server had written whose it is, and nowhere else', async () => {
    const properties = { by: { 'x-set': 'owner' }, also: { type: 'string' } };
    await set({ access: 'private', schema: { properties }, indexes: ['by', 'ownerId'] });
    await make({ also: guest });
    await bed.call('POST', `/db/${name}`, {
      identity: asOwner(),
      body: { data: { by: bob }, ownerId: guest },
    });
    await merge();
    const records = await list();
    expect(records.find(({ by }: { by: string }) => by === ada)).toMatchObject({ also: guest });
    for (const field of ['by', 'ownerId']) {
      const where = encodeURIComponent(JSON.stringify({ [field]: ada }));
      const found = await bed.call('GET', `/db/${name}?where=${where}`, { identity: asAda });
      expect(found.body.items.map(({ id }: { id: string }) => id)).toContain(
        records.find(({ by }: { by: string }) => by === ada).id,
      );
    }
  });

  it('that each may have once stays theirs where they have one: the guest’s is deleted, and kept in the log', async () => {
    await set({ access: 'members', unique: [['post', 'ownerId']] });
    const kept = (await make({ post: 1, text: 'ada' }, ada)).body;
    const clashing = (await make({ post: 1, text: 'guest' })).body;
    for (let n = 2; n < 120; n++) await make({ post: n });
    await merge();
    const records = await list();
    expect(records).toHaveLength(119);
    expect(records.every(({ ownerId }: { ownerId: string }) => ownerId === ada)).toBe(true);
    expect(records.find(({ post }: { post: number }) => post === 1)).toMatchObject(kept);
    expect((await make({ post: 2 }, ada)).status).toBe(409);
    expect((await make({ post: 2 })).status).toBe(201);
    const trash = await bed.call('GET', `/platform/projects/${projectId}/trash`, {
      identity: asOwner(),
    });
    expect(trash.body.items).toContainEqual(
      expect.objectContaining({ record: expect.objectContaining({ id: clashing.id }) }),
    );
    const [gone] = await bed.database.query(
      `SELECT old_owner, old_data FROM changes WHERE record_id = $1 AND kind = 'd'`,
      [clashing.id],
    );
    expect(gone).toMatchObject({ old_owner: ada, old_data: { post: 1, text: 'guest' } });
  });

  it('may be more than one user’s limit, which then refuses another one', async () => {
    await set({ access: 'private', limits: { perUser: 3 } });
    for (const userId of [ada, guest])
      for (let n = 0; n < 2; n++) expect((await make({ n }, userId)).status).toBe(201);
    await merge();
    expect(await list()).toHaveLength(4);
    expect((await make({}, ada)).status).toBe(403);
    const [first, second] = await list();
    for (const { id } of [first, second])
      await bed.call('DELETE', `/db/${name}/${id}`, { identity: asAda });
    expect((await make({}, ada)).status).toBe(201);
  });

  it('moves once and all, though the process dies again and again and others work beside it', async () => {
    await set({ access: 'private', unique: ['ownerId2'] });
    await make({});
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), CASE WHEN n % 3 = 0 THEN $3::uuid ELSE $4::uuid END, now(), now(), '{}'
         FROM collections, generate_series(1, 1200) n WHERE project_id = $1 AND name = $2`,
      [projectNumber, name, guest, bob],
    );
    await tell();
    let calls = 0;
    const dying: SendChange = async (change) => {
      const changed = await createSendChange(bed.database)<never>(change);
      if (calls++ % 2 === 0) throw new Error('killed');
      return changed;
    };
    await until(async () => {
      const runs = [createRunner(dying).run(), createRunner().run(), createRunner(dying).run()];
      await Promise.allSettled(runs);
      return (await jobs()).length === 0;
    });
    const left = await bed.database.query<{ owner_id: string; count: number }>(
      `SELECT owner_id, count(*) FROM records WHERE project_id = $1 AND coll_id =
         (SELECT coll_id FROM collections WHERE project_id = $1 AND name = $2) GROUP BY owner_id ORDER BY count`,
      [projectNumber, name],
    );
    expect(left).toEqual([
      { owner_id: ada, count: 401 },
      { owner_id: bob, count: 800 },
    ]);
  });

  it('is theirs in its past: history and actor say so', async () => {
    await set({ access: 'private' });
    const made = (await make({ n: 1 })).body;
    const path = `/db/${name}/${made.id}`;
    await bed.call('PATCH', path, { identity: asUser(guest), body: { data: { n: 2 } } });
    await bed.call('DELETE', path, { identity: asUser(guest) });
    await merge();
    const rows = await bed.database.query<{ actor: string; old_owner: string | null }>(
      'SELECT actor, old_owner FROM changes WHERE record_id = $1 ORDER BY seq',
      [made.id],
    );
    expect(rows).toEqual([
      { actor: `user:${ada}`, old_owner: null },
      { actor: `user:${ada}`, old_owner: ada },
      { actor: `user:${ada}`, old_owner: ada },
    ]);
  });

  it('was shared with the guest is shared with them, with what allows more', async () => {
    await set({ access: 'private' });
    const share = async (userId: string, may: string) => {
      const { id } = (await make({}, bob)).body;
      await put(id, userId, may);
      return id;
    };
    const put = (id: string, userId: string, may: string) =>
      bed.call('PUT', `/db/${name}/${id}/_shares`, {
        identity: asUser(bob),
        body: { userId, may },
      });
    await set({
      access: { read: ['owner', 'shared'], create: ['users'], change: ['owner', 'shared'] },
    });
    bed.people.set(guest, { role: 'user', groups: [], emailVerified: false });
    const [alone, both, less] = [
      await share(guest, 'read'),
      await share(guest, 'change'),
      await share(guest, 'read'),
    ];
    await put(both, ada, 'read');
    await put(less, ada, 'change');
    await merge();
    const shares = await bed.database.query<{ record_id: string; user_id: string; may: string }>(
      'SELECT record_id, user_id, may FROM shares WHERE project_id = $1 AND record_id = ANY ($2) ORDER BY record_id',
      [projectNumber, [alone, both, less]],
    );
    expect(shares).toEqual([
      { record_id: alone, user_id: ada, may: 'read' },
      { record_id: both, user_id: ada, may: 'change' },
      { record_id: less, user_id: ada, may: 'change' },
    ]);
    expect((await list()).length).toBe(3);
    expect(await list(asUser(guest))).toEqual([]);
  });

  it('goes with an account that was erased meanwhile, whatever came first', async () => {
    await set({ access: 'private' });
    await make({});
    await make({}, bob);
    const gone = '018f0000-0000-7000-8000-00000000dead';
    await tell(gone);
    await until(async () => {
      await createRunner().run();
      const left = await jobs();
      return left.length === 1 && (left[0] as { user_id: string }).user_id === gone;
    });
    await bed.database.query(`UPDATE user_erasures SET requested_at = now() - interval '1 hour'`);
    await runToTheEnd();
    expect(await list(asOwner())).toMatchObject([{ ownerId: bob }]);
  });

  it('of another project stays as it is', async () => {
    await set({ access: 'private' });
    await make({});
    await tell(ada, guest, 1002);
    bed.elsewhere.find = () => ({ role: 'user', groups: [], emailVerified: true });
    await runToTheEnd();
    expect(await list(asUser(guest))).toHaveLength(1);
  });
});
