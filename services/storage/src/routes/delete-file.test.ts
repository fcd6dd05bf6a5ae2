import { storageRoutes } from '@backlot/contract';
import { anonymous, asKey, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../test-bed.ts';

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
    bed.http.call('DELETE', `/storage/files/${id}`, { identity });
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
    for (const each of ['x', '%00', id.toUpperCase().slice(1)])
      expect((await remove(each, asKey())).status).toBe(404);
    expect((await bed.get((await upload()).url, { identity: anonymous() })).status).toBe(200);
  });
});
