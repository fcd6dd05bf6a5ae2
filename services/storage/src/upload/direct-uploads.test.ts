import { storageRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asUser, makeRandomContent, refusesStrangers } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StoreUnderTest } from '../blob-store/blob-store.conformance.ts';
import { startS3Store } from '../testing/s3-store.ts';
import {
  callId,
  createTestBed,
  otherProject,
  type TestBed,
  userA,
  userB,
} from '../testing/test-bed.ts';

const MIB = 1024 * 1024;
const someId = '018f0000-0000-4000-8000-000000000000';

describe('uploads to the store itself', () => {
  let s3: StoreUnderTest;
  let bed: TestBed;
  beforeAll(async () => {
    s3 = await startS3Store();
    bed = await createTestBed({ quotaBytes: 40 * MIB }, s3.store);
  });
  afterAll(async () => {
    // Every address has ended, and with it all that nobody took over.
    bed.clock.pass(26 * 3_600_000);
    for (const { id } of await bed.database.query<{ id: string }>('SELECT id FROM files'))
      await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() });
    await bed.service.sweepBlobs();
    await bed.close();
    await s3.close();
  });
  refusesStrangers(
    storageRoutes.openUpload,
    () => bed.http,
    () => ({ path: '/storage/uploads', body: { name: 'a', size: 1 } }),
  );
  refusesStrangers(
    storageRoutes.completeUpload,
    () => bed.http,
    () => ({ path: `/storage/uploads/${someId}/complete` }),
  );

  const open = (body: object, identity = asUser(userA)) =>
    bed.call('POST', '/storage/uploads', { identity, body });
  const complete = (id: string, identity = asUser(userA)) =>
    bed.call('POST', `/storage/uploads/${id}/complete`, { identity });
  /** As a browser would. */
  const hand = async (slip: { url: string; fields: Record<string, string> }, content: Buffer) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(slip.fields)) form.append(name, value);
    form.append('file', new Blob([new Uint8Array(content)]), 'x');
    return (await fetch(slip.url, { method: 'POST', body: form })).status;
  };

  it('make files of a group, for who is in it to the end', async () => {
    const groupId = '018f0000-0000-7000-8000-0000000000e1';
    const inGroup = (userId: string) => asUser(userId, { groups: [{ id: groupId, role: 'x' }] });
    const body = { name: 'a.txt', size: 4, groupId };
    expect(await open(body)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const { body: slip } = await open(body, inGroup(userA));
    expect(await hand(slip, Buffer.from('ours'))).toBeLessThan(300);
    expect((await complete(slip.id)).status).toBe(403);
    const { url } = (await complete(slip.id, inGroup(userA))).body;
    expect((await bed.get(url, { identity: inGroup(userB) })).bytes.toString()).toBe('ours');
    for (const identity of [asUser(userA), asUser(userB)])
      expect((await bed.get(url, { identity })).status).toBe(404);
  });

  it('make a file of what arrived, once, paid for by its size', async () => {
    const content = makeRandomContent(12 * MIB);
    const { status, body: slip } = await open({ name: '../big.bin', size: content.length });
    expect(status).toBe(201);
    expect(await complete(slip.id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await hand(slip, content)).toBe(204);

    const identity = asUser(userA, {
      reservation: { callId, millicredits: 5000, millicreditsPerUnit: 1000 },
    });
    const answers = await Promise.all([1, 2, 3].map(() => complete(slip.id, identity)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
    const done = answers.find(({ status }) => status === 201);
    expect(done?.body).toMatchObject({ id: slip.id, name: 'big.bin', size: content.length });
    expect(done?.headers.get('x-backlot-usage')).toBe('2000');
    expect(await bed.takeUsage()).toMatchObject([{ callId, millicredits: 2000 }]);
    expect((await bed.get(done?.body.url)).bytes.equals(content)).toBe(true);

    // The address still takes bytes; the file is not what they reach.
    expect(await hand(slip, Buffer.from('<script>'))).toBe(204);
    expect((await bed.get(done?.body.url)).bytes.equals(content)).toBe(true);
    expect((await complete(slip.id)).status).toBe(404);
  });

  it('take no more than was announced', async () => {
    const { body: slip } = await open({ name: 'a', size: 1000 });
    expect(await hand(slip, makeRandomContent(1001))).toBe(400);
    expect(await hand(slip, Buffer.alloc(0))).toBe(400);
    expect((await complete(slip.id)).status).toBe(409);
    expect(await hand(slip, makeRandomContent(1000))).toBe(204);
    expect((await complete(slip.id)).status).toBe(201);
  });

  it('are held to limit, credits and quota', async () => {
    expect(await open({ name: 'a', size: 50 * MIB + 1 })).toMatchObject({ status: 403 });
    const settings = { maxUploadBytes: 1000 };
    const held = asUser(userA, { project: { ...anonymous().project, settings } });
    expect(await open({ name: 'a', size: 1001 }, held)).toMatchObject({ status: 413 });
    const { body: slip } = await open({ name: 'a', size: 11 * MIB });
    await hand(slip, makeRandomContent(11 * MIB));
    const poor = asUser(userA, {
      reservation: { callId, millicredits: 1000, millicreditsPerUnit: 1000 },
    });
    expect(await complete(slip.id, poor)).toMatchObject({ status: 402 });
    expect((await complete(slip.id, held)).status).toBe(413);
  });

  it('that a secret key has opened end with it, for whoever has their id', async () => {
    const keyId = '018f0000-0000-7000-8000-0000000000c1';
    const opened = async () => {
      const { body: slip } = await open({ name: 'a', size: 10 }, asKey({ keyId }));
      expect(await hand(slip, Buffer.from('text'))).toBeLessThan(300);
      return slip.id;
    };
    const [first, second] = [await opened(), await opened()];
    expect((await complete(first, anonymous())).status).toBe(201);
    bed.endedKeys.add(`${anonymous().project.number}/${keyId}`);
    bed.clock.pass(3000);
    expect((await complete(second, anonymous())).status).toBe(404);
  });

  it('belong to who opened them, for an hour', async () => {
    const { body: slip } = await open({ name: 'a', size: 10, visibility: 'private' });
    await hand(slip, Buffer.from('text'));
    for (const identity of [anonymous(), asUser(userB), asKey({ project: otherProject })])
      expect((await complete(slip.id, identity)).status).toBe(404);
    for (const id of ['x', someId, '%00']) expect((await complete(id)).status).toBe(404);
    bed.clock.pass(3_601_000);
    expect((await complete(slip.id)).status).toBe(404);
  });

  it.each([
    ['name', { size: 1 }],
    ['name', { name: '', size: 1 }],
    ['size', { name: 'a' }],
    ['size', { name: 'a', size: 0 }],
    ['size', { name: 'a', size: 1.5 }],
    ['size', { name: 'a', size: 6 * 1024 ** 3 }],
    ['visibility', { name: 'a', size: 1, visibility: 'secret' }],
  ])('refuse a wrong %s: %j', async (field, body) => {
    const answer = await open(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });

  describe('that are announced', () => {
    let small: TestBed;
    beforeEach(async () => {
      small = await createTestBed({ quotaBytes: 1000 }, s3.store);
    });
    afterEach(() => small.close());
    const at = (n: number, userId = userA) => asUser(userId, { ip: `192.0.2.${n}` });
    const announce = (size: number, identity: Identity) =>
      small.call('POST', '/storage/uploads', { identity, body: { name: 'a', size } });
    const isRefused = (answer: unknown) =>
      expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });

    it('take no more of the quota than is left, and of that no address more than it leaves', async () => {
      expect((await announce(500, at(1))).status).toBe(201);
      for (const again of [at(1), at(1, userB), anonymous({ ip: '192.0.2.1' })])
        isRefused(await announce(1, again));
      expect((await announce(200, at(2))).status).toBe(201);
      isRefused(await announce(200, at(2)));
      expect((await announce(300, asKey({ ip: '192.0.2.1' }))).status).toBe(201);
      isRefused(await announce(1, asKey()));
      expect((await announce(1001, at(3))).status).toBe(403);
      small.clock.pass(3_601_000);
      expect((await announce(500, at(1))).status).toBe(201);
    });

    it('take no more in parallel either', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => announce(300, at(n + 1))),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    });

    it('keep no file out that is there', async () => {
      expect((await announce(900, at(1))).status).toBe(201);
      const { status, body } = await small.upload(Buffer.alloc(600, 1));
      expect(status).toBe(201);
      expect((await announce(401, at(2))).status).toBe(403);
      isRefused(await announce(100, at(2)));
      await small.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    });

    it('are a thousand at most, and leave as many to others', async () => {
      await small.database.query(
        `INSERT INTO direct_uploads
           (project_number, id, name, visibility, blob_key, expires_at, opened_from)
         SELECT 1001, gen_random_uuid(), 'a', 'public', 'x', $1, sha256('192.0.2.1')
           FROM generate_series(1, 500)`,
        [new Date(small.clock.now() + 3_600_000)],
      );
      isRefused(await announce(1, at(1)));
      expect((await announce(1, at(2))).status).toBe(201);
    });
  });

  it('are not offered by a file system', async () => {
    const other = await createTestBed();
    expect(
      await other.call('POST', '/storage/uploads', { body: { name: 'a', size: 1 } }),
    ).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await other.close();
  });
});
