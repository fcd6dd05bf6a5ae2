import { ApiError, storageRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const recordId = '018f0000-0000-7000-8000-0000000000d1';
const otherId = '018f0000-0000-7000-8000-0000000000d2';
const ada = asUser(userA);
const bob = asUser(userB, { role: 'staff' });

describe('files of a record', () => {
  let bed: TestBed;
  const tus = tusAt(
    () => bed.http.url,
    () => bed.clock.now(),
  );
  /** Who reads the record, and who changes it, by the ids of users. */
  let readers: Set<string | null>;
  let writers: Set<string | null>;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.attachFile,
    () => bed.http,
    () => ({
      path: `/storage/files/${otherId}/attach`,
      body: { collection: 'chat', recordId },
    }),
  );
  beforeEach(() => {
    readers = new Set();
    writers = new Set([userA]);
    // So that nothing of the test before is remembered.
    bed.clock.pass(10_000);
    bed.records.mayRead = ({ userId, collectionId, recordId: id }) =>
      collectionId === 7 && [recordId, otherId].includes(id) && readers.has(userId);
    bed.records.mayChange = ({ userId, collection, recordId: id }) =>
      collection === 'chat' && [recordId, otherId].includes(id) && writers.has(userId)
        ? { collectionId: 7 }
        : { refused: { code: 'forbidden', message: 'You may not change this record.', hint: 'h' } };
  });

  const fields = { collection: 'chat', recordId: recordId.toUpperCase() };
  const status = async (url: string, identity: Identity) =>
    (await bed.get(url, { identity })).status;
  const attach = (id: string, body: object, identity: Identity = ada) =>
    bed.call('POST', `/storage/files/${id}/attach`, { identity, body });

  it('open to who may read it, and to no other, within five seconds', async () => {
    const { body } = await bed.upload('hi', { identity: ada, fields });
    const { url } = body;
    expect(await status(url, bob)).toBe(404);
    readers.add(userB);
    expect(await status(url, bob)).toBe(404);
    bed.clock.pass(5000);
    expect(await status(url, bob)).toBe(200);
    expect(await status(url, anonymous())).toBe(404);
    expect(await status(url, { ...bob, project: otherProject })).toBe(404);
    for (const identity of [ada, asOwner(), asKey()]) expect(await status(url, identity)).toBe(200);
    readers.delete(userB);
    bed.clock.pass(5000);
    expect(await status(url, bob)).toBe(404);
    expect((await bed.get(url, { identity: ada })).headers.get('cache-control')).toMatch(/private/);
  });

  it('open to visitors where these may read the record', async () => {
    const { url } = (await bed.upload('hi', { identity: ada, fields })).body;
    readers.add(null);
    expect(await status(url, anonymous())).toBe(200);
  });

  it('ask once for a caller within seconds, and fail where nobody answers', async () => {
    const { url } = (await bed.upload('hi', { identity: ada, fields })).body;
    readers.add(userB);
    bed.records.times = 0;
    for (let n = 0; n < 5; n++) expect(await status(url, bob)).toBe(200);
    expect(bed.records.times).toBe(1);
    bed.clock.pass(5000);
    bed.records.mayRead = () => {
      throw new Error('nobody answers');
    };
    expect(await status(url, bob)).toBe(503);
    expect(await status(url, ada)).toBe(200);
  });

  it('are signed by who may read it, for as long as they may', async () => {
    const { id } = (await bed.upload('hi', { identity: ada, fields })).body;
    const sign = () =>
      bed.call('POST', `/storage/files/${id}/sign`, { identity: bob, body: { expiresIn: 600 } });
    expect((await sign()).status).toBe(404);
    bed.clock.pass(5000);
    readers.add(userB);
    bed.people.set(`${bob.project.number}/${userB}`, { role: 'staff', groups: [] });
    const { url } = (await sign()).body;
    expect(await status(url, anonymous())).toBe(200);
    readers.delete(userB);
    bed.clock.pass(5000);
    expect(await status(url, anonymous())).toBe(403);
  });

  it('are deleted by who uploaded them alone', async () => {
    const { id } = (await bed.upload('hi', { identity: ada, fields })).body;
    readers.add(userB);
    const remove = (identity: Identity) => bed.call('DELETE', `/storage/files/${id}`, { identity });
    expect((await remove(bob)).status).toBe(404);
    expect((await remove(ada)).status).toBe(200);
  });

  it('are made by who may change it, before any byte is stored', async () => {
    const count = await bed.count('files');
    const refused = await bed.upload('hi', { identity: bob, fields });
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'forbidden', error: '"recordId": You may not change this record.', hint: 'h' },
    });
    for (const wrong of [
      { recordId },
      { collection: 'chat' },
      { collection: '$x', recordId },
      { collection: 'chat', recordId: 'x' },
    ]) {
      const { status, body } = await bed.upload('hi', {
        identity: ada,
        fields: wrong as Record<string, string>,
      });
      expect([wrong, status, body.code]).toEqual([wrong, 400, 'invalid_body']);
    }
    expect(await bed.count('files')).toBe(count);
    bed.records.mayChange = () => {
      throw new ApiError('unavailable', 'nobody answers');
    };
    expect((await bed.upload('hi', { identity: ada, fields })).status).toBe(503);
  });

  it('are private unless stated, and listed with the record', async () => {
    await bed.upload('hi', { identity: ada, fields: { ...fields, visibility: 'public' } });
    await bed.upload('hi', { identity: ada, fields });
    const { body } = await bed.call('GET', '/storage/files?limit=2', { identity: ada });
    expect(body.items.map((file: object) => Object.entries(file))).toEqual([
      expect.arrayContaining([
        ['visibility', 'private'],
        ['recordId', recordId],
      ]),
      expect.arrayContaining([['visibility', 'public']]),
    ]);
  });

  const open = async (values: Record<string, string>, identity: Identity) => {
    const { status, body } = await tus.create(2, values, { identity });
    return { status, id: body.id };
  };

  it('come in parts too', async () => {
    const { id, status: opened } = await open(fields, bob);
    expect([opened, id]).toEqual([403, undefined]);
    const { id: fileId } = await open(fields, ada);
    const sent = await tus.append(fileId, 0, Buffer.from('hi'), { identity: ada });
    expect(sent.status).toBe(204);
    const url = String(sent.headers['x-file-url']);
    expect(await status(url, bob)).toBe(404);
    readers.add(userB);
    bed.clock.pass(5000);
    expect(await status(url, bob)).toBe(200);
  });

  describe('that are attached later', () => {
    it('open to its readers, and are private from then on, until they are taken away', async () => {
      const { id, url } = (await bed.upload('hi', { identity: ada })).body;
      expect(await status(url, bob)).toBe(200);
      expect((await attach(id, fields)).body).toEqual({ id, recordId, visibility: 'private' });
      expect(await status(url, bob)).toBe(404);
      readers.add(userB);
      bed.clock.pass(5000);
      expect(await status(url, bob)).toBe(200);
      expect((await attach(id, { recordId: null })).body).toMatchObject({ recordId: null });
      expect(await status(url, bob)).toBe(404);
    });

    it('are so by who uploaded them, and may change the record', async () => {
      const { id } = (await bed.upload('hi', { identity: ada })).body;
      writers.add(userB);
      expect((await attach(id, fields, bob)).status).toBe(403);
      writers.delete(userA);
      expect(await attach(id, fields)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      writers.add(asOwner().userId);
      expect((await attach(id, fields, asOwner())).status).toBe(200);
      expect((await attach(otherId, fields)).status).toBe(404);
      const elsewhere = { ...asOwner(), project: otherProject };
      expect((await attach(id, fields, elsewhere)).status).toBe(404);
    });

    it.each([{}, { recordId }, { collection: 'chat' }, { collection: 'chat', recordId: 'x' }])(
      'are not by %j',
      async (body) => {
        const { id } = (await bed.upload('hi', { identity: ada })).body;
        expect(await attach(id, body)).toMatchObject({
          status: 400,
          body: { code: 'invalid_body' },
        });
      },
    );
  });
});
