import { storageRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOperator,
  asOwner,
  asUser,
  refusesStrangers,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';

describe('the lists of files', () => {
  let bed: TestBed;
  const mine: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) {
      const fields = { visibility: n % 2 ? 'public' : 'private' };
      const { body } = await bed.upload(`file ${n}`, { identity: asUser(userA), fields });
      mine.unshift(body.id);
    }
    await bed.upload('not mine', { identity: asUser(userB) });
    await bed.upload('nobody’s');
    await bed.upload('elsewhere', { identity: asUser(userA, { project: otherProject }) });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.listFiles,
    () => bed.http,
    () => ({ path: '/storage/files' }),
  );
  refusesStrangers(
    storageRoutes.listProjectFiles,
    () => bed.http,
    () => ({ path: '/projects/testproject/files' }),
  );

  const list = (query = '', identity = asUser(userA)) =>
    bed.call('GET', `/storage/files${query}`, { identity });
  const listAll = (query = '', identity = asOwner()) =>
    bed.call('GET', `/platform/projects/${identity.project.id}/files${query}`, { identity });

  it('show a user their own files of this project, newest first, page by page', async () => {
    const seen: { id: string }[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...body.items);
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen.map(({ id }) => id)).toEqual(mine);
    expect(seen[0]).toEqual({
      id: mine[0],
      name: 'a.txt',
      size: 6,
      type: 'text/plain',
      visibility: 'private',
      ownerId: userA,
      groupId: null,
      recordId: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      url: `https://api.example.org/api/runtime/testproject/storage/files/${mine[0]}/a.txt`,
    });
  });

  refusesStrangers(
    storageRoutes.listFileTypes,
    () => bed.http,
    () => ({ path: '/projects/testproject/file-types' }),
  );

  it('add up by type, of this project alone', async () => {
    const { body } = await bed.call('GET', '/platform/projects/testproject/file-types', {
      identity: asOwner(),
    });
    const { totalFiles, totalBytes } = (await listAll()).body;
    expect(body.items).toEqual([{ type: 'text/plain', files: totalFiles, bytes: totalBytes }]);
    const identity = asOwner({ project: otherProject, userId: otherProject.ownerId });
    const other = await bed.call('GET', `/platform/projects/${otherProject.id}/file-types`, {
      identity,
    });
    expect(other.body.items).toMatchObject([{ type: 'text/plain', files: 1 }]);
  });

  it('show who runs the project all of them, with their totals', async () => {
    const { body } = await listAll();
    expect(body).toMatchObject({ totalFiles: 7, totalBytes: 5 * 6 + 8 + 10, hasMore: false });
    expect(body.items).toHaveLength(7);
    expect((await listAll('', asOperator())).body).toEqual(body);
    expect(
      (await listAll('', asOwner({ project: otherProject, userId: otherProject.ownerId }))).body,
    ).toMatchObject({
      totalFiles: 1,
    });
  });

  it.each(['?limit=-1', '?limit=x', '?cursor=made-up', `?cursor=${'x'.repeat(2049)}`])(
    'refuse %.30s',
    async (query) => {
      for (const { status, body } of [await list(query), await listAll(query)]) {
        expect(status).toBe(400);
        expect(body.error).toMatch(/"(limit|cursor)"/);
      }
    },
  );

  it('take no cursor of each other', async () => {
    const { nextCursor } = (await list('?limit=2')).body;
    expect((await listAll(`?cursor=${nextCursor}`)).status).toBe(400);
  });
});

describe('signFile', () => {
  let bed: TestBed;
  let id: string;
  let openId: string;
  beforeAll(async () => {
    bed = await createTestBed();
    const identity = asUser(userA);
    id = (await bed.upload('secret', { identity, fields: { visibility: 'private' } })).body.id;
    openId = (await bed.upload('open', { identity })).body.id;
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.signFile,
    () => bed.http,
    () => ({ path: `/storage/files/${id}/sign`, body: { expiresIn: 60 } }),
  );

  const sign = (fileId: string, identity = asUser(userA), expiresIn: unknown = 60) =>
    bed.call('POST', `/storage/files/${fileId}/sign`, { identity, body: { expiresIn } });
  const statusAt = async (url: string) => (await bed.get(url)).status;

  it('gives an address that opens the file to anybody until its time is over', async () => {
    for (const identity of [asUser(userA), asOwner(), asKey()]) {
      const { status, body } = await sign(id, identity);
      expect(status).toBe(200);
      expect(Date.parse(body.expiresAt) % 1000).toBe(0);
      expect((await bed.get(body.url)).bytes.toString()).toBe('secret');
      bed.clock.pass(61_000);
      expect(await statusAt(body.url)).toBe(403);
    }
  });

  it('is bound to the file, the project and the time', async () => {
    const { url } = (await sign(id)).body;
    const other = (await sign(openId)).body.url;
    const search = (text: string) => new URL(text).search;
    expect(await statusAt(url.replace(search(url), search(other)))).toBe(403);
    expect(await statusAt(url.replace(/expires=\d+/, 'expires=9999999999'))).toBe(403);
    expect(await statusAt(url.replace(/signature=.*/, 'signature=x'))).toBe(403);
    expect(await statusAt(url.replace(/expires=\d+&/, ''))).toBe(403);
    expect(await statusAt(url.replace(search(url), ''))).toBe(404);
    const elsewhere = await bed.get(url, { identity: anonymous({ project: otherProject }) });
    expect(elsewhere.status).toBe(403);
  });

  it('is given by the owner of the file and of the project alone', async () => {
    expect(await sign(id, asUser(userB))).toMatchObject({ status: 404 });
    expect(await sign(openId, asUser(userB))).toMatchObject({ status: 403 });
    expect(await sign(id, asKey({ project: otherProject }))).toMatchObject({ status: 404 });
    expect(await sign('nonsense')).toMatchObject({ status: 404 });
  });

  it.each([0, -1, 1.5, 604_801, '60', null])('refuses %j seconds', async (expiresIn) => {
    const answer = await sign(id, asUser(userA), expiresIn);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('"expiresIn"');
  });
});

describe('deleteFile', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.deleteFile,
    () => bed.http,
    () => ({ path: '/storage/files/018f0000-0000-4000-8000-000000000000' }),
  );

  const remove = (id: string, identity = asUser(userA)) =>
    bed.call('DELETE', `/storage/files/${id}`, { identity });
  const upload = async (fields = {}) =>
    (await bed.upload('text', { identity: asUser(userA), fields })).body;

  it('removes the file and its bytes, once among parallel calls', async () => {
    const { id, url } = await upload();
    const answers = await Promise.all([1, 2, 3, 4].map(() => remove(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await bed.get(url)).status).toBe(404);
    expect(await bed.blobs()).toEqual([]);
    expect(await bed.database.query('SELECT files, bytes FROM totals')).toEqual([
      { files: 0, bytes: 0 },
    ]);
  });

  it('is open to who owns the file and who runs the project', async () => {
    for (const identity of [asUser(userA), asOwner(), asKey()]) {
      const { id } = await upload({ visibility: 'private' });
      expect((await remove(id, identity)).status).toBe(200);
    }
    const { id } = await upload();
    const hidden = await upload({ visibility: 'private' });
    expect(await remove(id, asUser(userB))).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect((await remove(hidden.id, asUser(userB))).status).toBe(404);
    for (const identity of [asKey({ project: otherProject }), asOwner({ project: otherProject })])
      expect((await remove(id, identity)).status).toBe(404);
    for (const unknownId of ['x', '%00', id.toUpperCase().slice(1)])
      expect((await remove(unknownId, asKey())).status).toBe(404);
    expect((await bed.get((await upload()).url, { identity: anonymous() })).status).toBe(200);
  });

  it('is open to a role with the power, that sees whose files those of given ids are, too', async () => {
    const powers = { staff: ['delete-files'], guide: ['see-users'] };
    const withRole = (role: string) => asUser(userB, { role, project: { ...testProject, powers } });
    const [open, hidden] = [await upload(), await upload({ visibility: 'private' })];
    const ids = `${hidden.id},${open.id},nonsense,018f0000-0000-4000-8000-000000000000`;
    const look = (identity: Identity) => bed.call('GET', `/storage/files?ids=${ids}`, { identity });
    const { items } = (await look(withRole('staff'))).body;
    expect(items).toMatchObject([
      { id: hidden.id, ownerId: userA },
      { id: open.id, ownerId: userA },
    ]);
    expect((await bed.get(hidden.url, { identity: withRole('staff') })).status).toBe(404);
    for (const role of ['guide', 'user', 'constructor']) {
      expect((await look(withRole(role))).status).toBe(403);
      expect((await remove(open.id, withRole(role))).status).toBe(403);
      expect((await remove(hidden.id, withRole(role))).status).toBe(404);
    }
    for (const { id } of [open, hidden])
      expect((await remove(id, withRole('staff'))).status).toBe(200);
  });
});

it('files of one user are listed to the owner, page by page', async () => {
  const bed = await createTestBed();
  for (const userId of [userA, userB, userA])
    await bed.upload('text', { identity: asUser(userId) });
  const path = `/platform/projects/${testProject.id}/files?owner=${userA}`;
  const list = (query: string) => bed.call('GET', path + query, { identity: asOwner() });
  const first = (await list('&limit=1')).body;
  expect(first.items).toMatchObject([{ ownerId: userA }]);
  const second = (await list(`&cursor=${first.nextCursor}`)).body;
  expect(second).toMatchObject({ items: [{ ownerId: userA }], hasMore: false });
  expect(second.items[0].id).not.toBe(first.items[0].id);
  expect((await bed.call('GET', `${path}x`, { identity: asOwner() })).status).toBe(400);
  await bed.close();
});
