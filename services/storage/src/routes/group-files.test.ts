import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOperator, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const red = '018f0000-0000-7000-8000-0000000000e1';
const blue = '018f0000-0000-7000-8000-0000000000e2';
const inGroup = (userId: string, role = 'member', id = red) =>
  asUser(userId, { groups: [{ id, role }] });
const uploader = inGroup(userA);
const elsewhere = { ...uploader, project: otherProject };

const callers: Record<string, Identity> = {
  uploader,
  member: inGroup(userB),
  viewer: inGroup(userB, 'viewer'),
  admin: inGroup(userB, 'admin'),
  groupOwner: inGroup(userB, 'owner'),
  uploaderWhoLeft: asUser(userA),
  adminOfAnotherGroup: inGroup(userB, 'admin', blue),
  stranger: asUser(userB, { role: 'admin' }),
  anonymous: anonymous(),
  elsewhere,
  owner: asOwner(),
  key: asKey(),
  operator: asOperator(),
  keyElsewhere: asKey({ project: otherProject }),
};

/** What each may do, in the words of the reference. */
const runsProject = ['owner', 'key', 'operator'];
const managers = [...runsProject, 'uploader', 'admin', 'groupOwner'];
const members = [...managers, 'member', 'viewer'];

describe('files of a group', () => {
  let bed: TestBed;
  const tus = tusAt(() => bed.http.url);
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const upload = (fields: Record<string, string>, identity = uploader) =>
    bed.upload('ours', { identity, fields });
  const statuses = async (ask: (identity: Identity) => Promise<{ status: number }>) => {
    const entries = Object.entries(callers).map(
      async ([name, identity]) => [name, (await ask(identity)).status] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const expected = (may: readonly string[], otherwise: number, exceptions = {}) => ({
    ...Object.fromEntries(
      Object.keys(callers).map((name) => [name, may.includes(name) ? 200 : otherwise]),
    ),
    ...exceptions,
  });
  const sign = (id: string) => (identity: Identity) =>
    bed.call('POST', `/storage/files/${id}/sign`, { identity, body: { expiresIn: 60 } });
  const remove = (id: string) => (identity: Identity) =>
    bed.call('DELETE', `/storage/files/${id}`, { identity });

  it('open to its members, who can sign, and to who runs the project, and are none to others', async () => {
    const { id, url } = (await upload({ groupId: red })).body;
    expect(await statuses((identity) => bed.get(url, { identity }))).toEqual(
      expected(members, 404),
    );
    expect(await statuses((identity) => bed.get(`${url}?width=10`, { identity }))).toEqual(
      // No image: who may see it is told so.
      Object.fromEntries(
        Object.keys(callers).map((name) => [name, members.includes(name) ? 400 : 404]),
      ),
    );
    expect(await statuses(sign(id))).toEqual(expected(members, 404, { anonymous: 401 }));
    const viewer = callers.viewer as Identity;
    bed.people.set(`${viewer.project.number}/${userB}`, {
      role: 'user',
      groups: viewer.groups ?? [],
    });
    const signed = (await sign(id)(viewer)).body.url;
    expect((await bed.get(signed)).bytes.toString()).toBe('ours');
  });

  it('come from roles that the project names, and from who manages the group', async () => {
    const settings = { storage: { groupRoles: ['member'] } };
    const boundIdentity = (identity: Identity) => ({
      ...identity,
      project: { ...identity.project, settings },
    });
    const statusOf = async (name: string, fields: Record<string, string>) =>
      (await upload(fields, boundIdentity(callers[name] as Identity))).status;
    for (const name of [...managers, 'member'])
      expect([name, await statusOf(name, { groupId: red })]).toEqual([name, 201]);
    for (const name of ['viewer', 'uploaderWhoLeft', 'adminOfAnotherGroup', 'stranger'])
      expect([name, await statusOf(name, { groupId: red })]).toEqual([name, 403]);
    expect(await statusOf('viewer', {})).toBe(201);

    const viewer = boundIdentity(callers.viewer as Identity);
    const { body } = await upload({ groupId: red }, viewer);
    expect(body).toMatchObject({ code: 'forbidden', hint: expect.stringContaining('groupRoles') });
    const fields = { groupId: red, filename: 'a.txt' };
    expect((await tus.create(5, fields, { identity: viewer })).status).toBe(403);
  });

  it('are deleted by their uploader, as long as in the group, and by those who manage it', async () => {
    const allowed: string[] = [];
    for (const [name, identity] of Object.entries(callers)) {
      const { id } = (await upload({ groupId: red })).body;
      const { status } = await remove(id)(identity);
      if (status === 200) allowed.push(name);
      else expect([name, status]).toEqual([name, refusal(name)]);
    }
    expect(allowed.sort()).toEqual([...managers].sort());
  });
  const refusal = (name: string) => {
    if (name === 'anonymous') return 401;
    return members.includes(name) ? 403 : 404;
  };

  it('are public where their uploader says so, and the group’s all the same', async () => {
    const { id, url } = (await upload({ groupId: red, visibility: 'public' })).body;
    const everybodyHere = Object.keys(callers).filter((name) => !/elsewhere/i.test(name));
    expect(await statuses((identity) => bed.get(url, { identity }))).toEqual(
      expected(everybodyHere, 404),
    );
    for (const name of ['member', 'stranger', 'uploaderWhoLeft', 'adminOfAnotherGroup'])
      expect((await remove(id)(callers[name] as Identity)).status).toBe(403);
    expect((await remove(id)(callers.admin as Identity)).status).toBe(200);
  });

  it('are listed for the members of the group alone', async () => {
    const { id } = (await upload({ groupId: red })).body;
    const own = (await upload({})).body;
    const list = (query: string) => (identity: Identity) =>
      bed.call('GET', `/storage/files${query}`, { identity });
    const inRed = list(`?group=${red.toUpperCase()}`);
    const asked = Object.entries(callers).filter(([, { caller }]) => caller === 'user');
    for (const [name, identity] of asked) {
      const { status, body } = await inRed(identity);
      const ids = status === 200 ? body.items.map((item: { id: string }) => item.id) : [];
      expect([name, status, ids.includes(id)]).toEqual(
        name === 'elsewhere'
          ? [name, 200, false]
          : [name, members.includes(name) ? 200 : 404, members.includes(name)],
      );
      if (members.includes(name)) expect(ids).not.toContain(own.id);
    }
    const ids = async (identity: Identity) =>
      (await list('')(identity)).body.items.map((item: { id: string }) => item.id);
    expect(await ids(uploader)).toEqual(expect.arrayContaining([id, own.id]));
    expect(await ids(callers.uploaderWhoLeft as Identity)).toContain(own.id);
    expect(await ids(callers.uploaderWhoLeft as Identity)).not.toContain(id);
    expect((await list('?group=red')(uploader)).body.error).toContain('"group"');

    const all = await bed.call('GET', `/platform/projects/testproject/files?group=${red}`, {
      identity: asOwner(),
    });
    expect(all.body.items[0]).toMatchObject({ id, groupId: red, visibility: 'private' });
    expect(all.body.items.every(({ groupId }: { groupId: string }) => groupId === red)).toBe(true);
  });

  it('are uploaded by members and who runs the project, wherever in the form the group stands', async () => {
    const refused = { anonymous: 401, uploaderWhoLeft: 403, stranger: 403 };
    const upper = await statuses((identity) => upload({ groupId: red.toUpperCase() }, identity));
    expect(upper).toEqual({
      ...Object.fromEntries(Object.keys(callers).map((name) => [name, 201])),
      ...refused,
      adminOfAnotherGroup: 403,
    });
    const before = await bed.blobs();
    const form = new FormData();
    form.append('file', new Blob(['late']), 'late.txt');
    form.append('groupId', blue);
    expect(await bed.send(form, {}, uploader)).toMatchObject({
      status: 403,
      body: { code: 'forbidden', error: expect.stringContaining('"groupId"') },
    });
    expect(await bed.blobs()).toEqual(before);
    for (const groupId of ['', 'red', `${red} `])
      expect((await upload({ groupId })).body.error).toContain('"groupId" must be the id');
  });

  it('come in resumable parts, for as long as their uploader is in the group', async () => {
    const content = Buffer.from('in parts');
    const options = { identity: uploader };
    const open = () => tus.create(content.length, { filename: 'a.txt', groupId: red }, options);
    const { id } = (await open()).body;
    expect((await tus.append(id, 0, content, options)).status).toBe(204);
    const url = `https://api.example.org/api/runtime/testproject/storage/files/${id}/a.txt`;
    expect(await statuses((identity) => bed.get(url, { identity }))).toEqual(
      expected(members, 404),
    );

    const left = (await open()).body.id;
    const answer = await tus.append(left, 0, content, { identity: asUser(userA) });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await tus.head(left, options)).status).toBe(404);
    for (const groupId of [blue, 'red']) {
      const refused = await tus.create(1, { groupId }, options);
      expect([groupId, refused.status]).toEqual([groupId, groupId === blue ? 403 : 400]);
      expect(refused.body.error).toContain('groupId');
    }
  });
});
