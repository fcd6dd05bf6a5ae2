import { anonymous, asKey, asUser, makeRandomContent, testProject, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const MIB = 1024 * 1024;
const dayMs = 24 * 3600 * 1000;
const eventId = '018f0000-0000-7000-8000-0000000000e1';

describe('resumable uploads', () => {
  let bed: TestBed;
  afterEach(() => bed.close());
  const tus = tusAt(
    () => bed.http.url,
    () => bed.clock.now(),
  );
  const createUpload = async (...args: Parameters<typeof tus.create>): Promise<string> =>
    (await tus.create(...args)).body.id;
  const count = (table: string) => bed.count(table);
  const headOffset = async (id: string) => Number((await tus.head(id)).headers['upload-offset']);
  const readFile = async (id: string) => (await bed.get((await tus.get(id)).body.file.url)).bytes;

  it('keep what came when the caller goes away, and go on from there', async () => {
    bed = await createTestBed();
    const content = makeRandomContent(9 * MIB);
    const id = await createUpload(content.length);
    const { req } = tus.beginAppend(id, 0, { headers: { 'content-length': String(9 * MIB) } });
    req.write(content.subarray(0, 3 * MIB));
    await until(async () => (await bed.store.sizeBytes(`1001/${id}`)) === 3 * MIB);
    req.destroy();
    await until(async () => (await headOffset(id)) === 3 * MIB);
    await tus.append(id, 3 * MIB, content.subarray(3 * MIB));
    expect((await readFile(id)).equals(content)).toBe(true);
  });

  it('keep what came when the caller falls silent, and say how much that is', async () => {
    bed = await createTestBed({ uploadIdleMs: 1000 });
    const id = await createUpload(1000);
    const { req, answer } = tus.beginAppend(id, 0, { headers: { 'content-length': '1000' } });
    req.write('x'.repeat(300));
    expect(await answer()).toMatchObject({ status: 204, headers: { 'upload-offset': '300' } });
    req.destroy();
    expect(await headOffset(id)).toBe(300);
  });

  it('are sent to by one call at a time: who asks ends the one before', async () => {
    bed = await createTestBed();
    const content = makeRandomContent(2 * MIB);
    const id = await createUpload(content.length);
    const { req, answer } = tus.beginAppend(id, 0, { headers: { 'transfer-encoding': 'chunked' } });
    const ended = answer();
    req.write(content.subarray(0, MIB));
    await until(async () => (await bed.store.sizeBytes(`1001/${id}`)) === MIB);
    expect(await headOffset(id)).toBe(MIB);
    expect(await ended).toMatchObject({ status: 204, headers: { 'upload-offset': String(MIB) } });
    req.destroy();

    const rest = content.subarray(MIB);
    const answers = await Promise.all([1, 2, 3].map(() => tus.append(id, MIB, rest)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
    expect((await readFile(id)).equals(content)).toBe(true);
    expect(await count('files')).toBe(1);
  });

  it('are locked while a call that has gone may still hold them, and open by themselves', async () => {
    bed = await createTestBed();
    const id = await createUpload(10);
    await bed.database.query('UPDATE resumable_uploads SET held_by = id, held_until = $1', [
      new Date(bed.clock.now() + 60_000),
    ]);
    const answer = await tus.append(id, 0, Buffer.alloc(10, 1));
    expect(answer).toMatchObject({ status: 423, body: { code: 'locked' } });
    expect(answer.headers['retry-after']).toBe('2');
    bed.clock.pass(60_000);
    expect((await tus.append(id, 0, Buffer.alloc(10, 1))).status).toBe(204);
  });

  it('that are given up go away, with their bytes', async () => {
    bed = await createTestBed();
    const id = await createUpload(10);
    await tus.append(id, 0, Buffer.from('abc'));
    expect(await tus.end(id)).toMatchObject({ status: 204, body: '' });
    expect(await bed.blobs()).toEqual([]);
    for (const { status } of [await tus.head(id), await tus.end(id)]) expect(status).toBe(404);
    expect((await tus.append(id, 3, Buffer.from('defghij'))).status).toBe(404);
    expect(await count('loose_blobs')).toBe(0);
  });

  it('that are abandoned go away after a day, those that are files stay', async () => {
    bed = await createTestBed();
    const [abandoned, whole] = [await createUpload(10), await createUpload(3)];
    for (const id of [abandoned, whole]) await tus.append(id, 0, Buffer.from('abc'));
    const { url } = (await tus.get(whole)).body.file;
    bed.clock.pass(dayMs - 60_000);
    expect((await tus.head(abandoned)).status).toBe(200);
    bed.clock.pass(60_000);
    expect((await tus.head(abandoned)).status).toBe(404);
    expect((await tus.append(abandoned, 3, Buffer.from('d'))).status).toBe(404);

    bed.clock.pass(dayMs / 24);
    await bed.service.start();
    await until(async () => (await count('resumable_uploads')) === 0);
    await until(async () => (await count('loose_blobs')) === 0);
    expect(await bed.blobs()).toEqual([whole]);
    expect((await bed.get(url)).bytes.toString()).toBe('abc');
  });

  it('are over with the file that they have become', async () => {
    bed = await createTestBed();
    const id = await createUpload(3);
    await tus.append(id, 0, Buffer.from('abc'));
    expect((await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() })).status).toBe(
      200,
    );
    expect((await tus.head(id)).status).toBe(404);
  });

  it('of an account that is erased go away, also while it sends', async () => {
    bed = await createTestBed();
    await bed.service.start();
    const mine = { identity: asUser(userA) };
    const [late, kept] = [
      await createUpload(1000, {}, mine),
      await createUpload(10, {}, { identity: asUser(userB) }),
    ];
    const { req, answer } = tus.beginAppend(late, 0, {
      ...mine,
      headers: { 'content-length': '1000' },
    });
    const ended = answer();
    req.write('x'.repeat(300));
    await until(async () => (await bed.store.sizeBytes(`1001/${late}`)) === 300);
    const { id: projectId, number: projectNumber } = testProject;
    const payload = { projectId, projectNumber, userId: userA, email: 'a@example.org' };
    await bed.bus.publish({ id: eventId, topic: 'user.erased', payload });
    await until(async () => (await count('resumable_uploads')) === 1);
    await ended;
    req.destroy();
    bed.clock.pass(dayMs / 24);
    await bed.service.sweepBlobs();
    expect(await bed.blobs()).toEqual([kept]);
  });

  it('that a secret key has opened end with it, for whoever has their id', async () => {
    bed = await createTestBed();
    const [ends, stays] = ['c1', 'c2'].map((end) =>
      asKey({ keyId: `018f0000-0000-7000-8000-0000000000${end}` }),
    );
    const [ended, kept, own] = [
      await createUpload(6, {}, { identity: ends ?? asKey() }),
      await createUpload(6, {}, { identity: stays ?? asKey() }),
      await createUpload(6),
    ];
    for (const id of [ended, kept, own])
      expect((await tus.append(id, 0, Buffer.from('abc'))).status).toBe(204);
    bed.endedKeys.add(`${testProject.number}/${ends?.keyId}`);
    bed.endedKeys.add(`${otherProject.number}/${stays?.keyId}`);
    bed.clock.pass(3000);
    const rest = (id: string) => tus.append(id, 3, Buffer.from('def'));
    expect((await rest(ended)).status).toBe(404);
    expect((await tus.get(ended)).status).toBe(404);
    expect([(await rest(kept)).status, (await rest(own)).status]).toEqual([204, 204]);
    expect(await count('files')).toBe(2);
  });

  it('of a project that is erased go away', async () => {
    bed = await createTestBed();
    await bed.service.start();
    const other = await createUpload(10, {}, { identity: anonymous({ project: otherProject }) });
    const [open, whole] = [await createUpload(10), await createUpload(3)];
    for (const id of [open, whole]) await tus.append(id, 0, Buffer.from('abc'));
    const { id: projectId, number: projectNumber } = testProject;
    const payload = { projectId, projectNumber };
    await bed.bus.publish({ id: eventId, topic: 'project.erased', payload });
    await until(async () => (await count('resumable_uploads')) === 1);
    await until(async () => (await count('files')) === 0);
    bed.clock.pass(dayMs / 24);
    await bed.service.sweepBlobs();
    expect(await bed.blobs()).toEqual([other]);
  });
});
