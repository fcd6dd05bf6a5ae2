import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BlobStoreUnavailable } from '../blob-store/blob-store.ts';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import { callId, createTestBed, otherProject, type TestBed, userB } from '../testing/test-bed.ts';
import { type TusOptions, tusAt } from '../testing/tus.ts';

const MIB = 1024 * 1024;

describe('resumable uploads, held to their bounds', () => {
  let bed: TestBed;
  afterEach(() => bed.close());
  const tus = tusAt(
    () => bed.http.url,
    () => bed.clock.now(),
  );
  const createUpload = async (...args: Parameters<typeof tus.create>): Promise<string> =>
    (await tus.create(...args)).body.id;
  const paying = (millicredits: number, call = callId): TusOptions => ({
    identity: anonymous({ reservation: { callId: call, millicredits, millicreditsPerUnit: 1000 } }),
  });
  const from = (n: number): TusOptions => ({ identity: anonymous({ ip: `192.0.2.${n + 1}` }) });
  const count = (table: string) => bed.count(table);
  const held = async (id: string) =>
    (
      await bed.database.query<{ held_by: string | null }>(
        'SELECT held_by FROM resumable_uploads WHERE id = $1',
        [id],
      )
    )[0]?.held_by;
  const headOffset = async (id: string) => Number((await tus.head(id)).headers['upload-offset']);

  it('cost what was in force when the call that ends them was admitted', async () => {
    bed = await createTestBed();
    const id = await createUpload(11 * MIB);
    const reservation = { callId, millicredits: 10_000, millicreditsPerUnit: 700 };
    const identity = anonymous({ reservation });
    const last = await tus.append(id, 0, Buffer.alloc(11 * MIB, 1), { identity });
    expect(last.headers['x-backlot-usage']).toBe('1400');
    expect(await bed.takeUsage()).toMatchObject([{ callId, millicredits: 1400 }]);
  });

  it('cost what the file costs, once, by the call that ends it', async () => {
    bed = await createTestBed();
    const id = await createUpload(12 * MIB);
    const first = await tus.append(id, 0, Buffer.alloc(11 * MIB, 1), paying(2000));
    expect(first.headers).not.toHaveProperty('x-backlot-usage');
    const last = await tus.append(id, 11 * MIB, Buffer.alloc(MIB, 1), paying(2000));
    expect(last.headers['x-backlot-usage']).toBe('2000');
    const again = await tus.append(id, 12 * MIB, Buffer.alloc(0), paying(2000));
    expect([again.status, again.headers]).toEqual([
      204,
      expect.not.objectContaining({ 'x-backlot-usage': '2000' }),
    ]);
    expect(await bed.takeUsage()).toMatchObject([
      { callId, millicredits: 2000, units: { bytes: 12 * MIB } },
    ]);
  });

  it('end before their last bytes requester where the credits do not cover the file', async () => {
    bed = await createTestBed();
    const id = await createUpload(12 * MIB);
    expect((await tus.append(id, 0, Buffer.alloc(11 * MIB, 1), paying(1000))).status).toBe(204);
    const refused = await tus.append(id, 11 * MIB, Buffer.alloc(MIB, 1), paying(1000));
    expect(refused).toMatchObject({ status: 402, body: { code: 'out_of_credits' } });
    expect(await headOffset(id)).toBe(11 * MIB);
    expect((await tus.append(id, 11 * MIB, Buffer.alloc(MIB, 1), paying(2000))).status).toBe(204);
  });

  /** Its bytes are not all there, it costs nothing yet, and with the rest of them it is a file. */
  const expectNoFileYet = async (id: string) => {
    const offset = await headOffset(id);
    expect(offset).toBeLessThan(1000);
    expect([await count('files'), await bed.takeUsage()]).toEqual([0, []]);
    const ended = tus.beginAppend(id, offset, paying(1000));
    ended.req.end(Buffer.alloc(1000 - offset, 1));
    expect((await ended.answer()).headers['x-file-id']).toBe(id);
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1000 }]);
    await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() });
  };

  it('whose last part says no length are no file before that part has ended: till then it costs nothing', async () => {
    bed = await createTestBed();
    const [left, more] = [await createUpload(1000), await createUpload(1000)];
    const { req } = tus.beginAppend(left, 0, paying(1000));
    req.write(Buffer.alloc(1000, 1));
    await until(async () => (await held(left)) !== null);
    req.destroy();
    const over = tus.beginAppend(more, 0, paying(1000));
    over.req.write(Buffer.alloc(1000, 1));
    await until(async () => (await held(more)) !== null);
    over.req.end('!');
    expect((await over.answer()).status).toBe(413);
    for (const id of [left, more]) await expectNoFileYet(id);
  });

  it('whose last part says no length are no file either where it falls silent', async () => {
    bed = await createTestBed({ uploadIdleMs: 2000 });
    const silent = await createUpload(1000);
    const part = tus.beginAppend(silent, 0, paying(1000));
    part.req.write(Buffer.alloc(1000, 1));
    const { headers } = await part.answer();
    expect(headers).not.toHaveProperty('x-file-id');
    await expectNoFileYet(silent);
  });

  it('become a file, paid for once, by whoever asks after one that ended before it could', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const store = createFilesystemBlobStore(directory);
    let failures = 2;
    bed = await createTestBed(
      {},
      {
        ...store,
        sizeBytes: async (key) => {
          if (failures-- > 0) throw new BlobStoreUnavailable('not now');
          return store.sizeBytes(key);
        },
      },
    );
    const [first, second] = [await createUpload(10), await createUpload(10)];
    for (const id of [first, second])
      expect(await tus.append(id, 0, Buffer.alloc(10, 1), paying(1000))).toMatchObject({
        status: 503,
        // What is reserved has to stay for whoever asks.
        headers: { 'x-backlot-usage': 'follows' },
      });
    expect(await count('files')).toBe(0);

    const heads = await Promise.all([1, 2, 3].map(() => tus.head(first)));
    for (const { status, headers } of heads) {
      expect([status, headers['upload-offset'], headers['x-file-id']]).toEqual([200, '10', first]);
      expect(headers).not.toHaveProperty('x-backlot-usage');
    }
    expect(await bed.takeUsage()).toMatchObject([{ callId, millicredits: 1000 }]);

    const other = '018f0000-0000-7000-8000-0000000000c2';
    const last = await tus.append(second, 10, Buffer.alloc(0), paying(1000, other));
    expect(last.headers['x-backlot-usage']).toBe('1000');
    expect(await bed.takeUsage()).toMatchObject([{ callId: other, millicredits: 1000 }]);
    await rm(directory, { recursive: true });
  });

  it('count towards the quota what came, not what was announced', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, n) => tus.create(8000, {}, from(n))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 201));
    const [first, second] = answers.map(({ body }) => body.id);
    expect((await tus.append(first, 0, Buffer.alloc(6000, 1))).status).toBe(204);

    const full = { status: 403, body: { code: 'storage_quota' } };
    expect(await tus.create(5000)).toMatchObject(full);
    expect(await tus.append(second, 0, Buffer.alloc(5000, 1))).toMatchObject(full);
    expect((await tus.append(second, 0, Buffer.alloc(2000, 1))).status).toBe(204);
    expect((await tus.append(first, 6000, Buffer.alloc(2000, 1))).headers['x-file-id']).toBe(first);
    expect(await tus.append(second, 2000, Buffer.alloc(1, 1))).toMatchObject(full);
    const elsewhere = { identity: anonymous({ project: otherProject }) };
    expect((await tus.create(8000, {}, elsewhere)).status).toBe(201);
  });

  it('count towards the quota of all uploads while their bytes lie there', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const id = await createUpload(8000);
    expect((await tus.append(id, 0, Buffer.alloc(6000, 1))).status).toBe(204);
    const total = async () =>
      (await bed.call('GET', '/platform/projects/testproject/files', { identity: asOwner() })).body
        .totalBytes;
    expect(await total()).toBe(6000);
    expect(await bed.upload(Buffer.alloc(4001, 1))).toMatchObject({
      status: 403,
      body: { code: 'storage_quota' },
    });
    expect((await bed.upload(Buffer.alloc(2000, 1))).status).toBe(201);
    expect((await tus.append(id, 6000, Buffer.alloc(2000, 1))).headers['x-file-id']).toBe(id);
    expect(await total()).toBe(10_000);
    await bed.call('DELETE', `/storage/files/${id}`, { identity: asKey() });
    const other = await createUpload(8000);
    await tus.append(other, 0, Buffer.alloc(5000, 1));
    await tus.end(other);
    expect(await total()).toBe(2000);
  });

  it('count what came of a part that was refused', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const id = await createUpload(8000);
    const { req, answer } = tus.beginAppend(id, 0);
    req.write(Buffer.alloc(7999, 1));
    await until(async () => (await bed.store.sizeBytes(`1001/${id}`)) === 7999);
    req.end(Buffer.alloc(2, 1));
    expect((await answer()).status).toBe(413);
    const kept = await headOffset(id);
    expect(kept).toBeGreaterThan(7000);
    expect(await tus.create(10_000 - kept + 1)).toMatchObject({ status: 403 });
    expect((await tus.create(10_000 - kept)).status).toBe(201);
  });

  it('belong to who opened them, whoever ends them', async () => {
    bed = await createTestBed();
    const id = await createUpload(3);
    await tus.append(id, 0, Buffer.from('abc'), { identity: asUser(userB) });
    const { body } = await bed.call('GET', '/storage/files', { identity: asUser(userB) });
    expect(body.items).toEqual([]);
  });

  it('are paid for by the call that brought the last bytes, not by one that stands elsewhere', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const store = createFilesystemBlobStore(directory);
    let failures = 1;
    bed = await createTestBed(
      {},
      {
        ...store,
        sizeBytes: async (key) => {
          if (failures-- > 0) throw new BlobStoreUnavailable('not now');
          return store.sizeBytes(key);
        },
      },
    );
    const id = await createUpload(10);
    expect((await tus.append(id, 0, Buffer.alloc(10, 1), paying(1000))).status).toBe(503);
    const other = '018f0000-0000-7000-8000-0000000000c2';
    expect((await tus.append(id, 0, Buffer.alloc(10, 1), paying(1000, other))).status).toBe(409);
    expect((await tus.head(id)).headers['x-file-id']).toBe(id);
    expect(await bed.takeUsage()).toMatchObject([{ callId, millicredits: 1000 }]);
    await rm(directory, { recursive: true });
  });

  it('end where the quota was filled while their last bytes came, and nobody has them for nothing', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const id = await createUpload(2000);
    const { req, answer } = tus.beginAppend(id, 0, {
      ...paying(1000),
      headers: { 'content-length': '2000' },
    });
    req.write(Buffer.alloc(1000, 1));
    await until(async () => (await bed.store.sizeBytes(`1001/${id}`)) === 1000);
    const { body } = await bed.upload(Buffer.alloc(9000, 1));
    req.end(Buffer.alloc(1000, 1));
    expect(await answer()).toMatchObject({ status: 403, body: { code: 'storage_quota' } });
    await bed.call('DELETE', `/storage/files/${body.id}`, { identity: asKey() });
    expect((await tus.head(id)).status).toBe(404);
    expect([await count('files'), await bed.takeUsage()]).toEqual([0, []]);
  });

  it('are held to the limit of the project again at each part', async () => {
    bed = await createTestBed();
    const id = await createUpload(1001);
    const project = { ...testProject, settings: { maxUploadBytes: 1000 } };
    const held = { identity: anonymous({ project }) };
    expect((await tus.create(1001, {}, held)).status).toBe(413);
    const answer = await tus.append(id, 0, Buffer.alloc(1001, 1), held);
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it('are a thousand of a project at most', async () => {
    bed = await createTestBed();
    await bed.database.query(
      `INSERT INTO resumable_uploads
         (project_number, id, name, visibility, size_bytes, metadata, expires_at)
       SELECT 1001, gen_random_uuid(), 'a', 'public', 1, '', now() + interval '1 day'
         FROM generate_series(1, 999)`,
    );
    const kept = await createUpload(2);
    expect(await tus.create(1)).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    await tus.append(kept, 0, Buffer.from('a'));

    // One that nothing came of for ten minutes gives way.
    bed.clock.pass(10 * 60_000 + 1000);
    expect((await tus.create(1)).status).toBe(201);
    expect(await count('resumable_uploads')).toBe(1000);
    expect(await headOffset(kept)).toBe(1);
  });

  it('are of one address no more than it leaves to others', async () => {
    bed = await createTestBed();
    await bed.database.query(
      `INSERT INTO resumable_uploads
         (project_number, id, name, visibility, size_bytes, received_bytes, metadata, expires_at, opened_from)
       SELECT 1001, gen_random_uuid(), 'a', 'public', 2, n - 1, '', $1, sha256('192.0.2.1')
         FROM generate_series(1, 500) n`,
      [new Date(bed.clock.now() + 24 * 3_600_000)],
    );
    expect(await tus.create(1, {}, from(0))).toMatchObject({
      status: 503,
      body: { code: 'overloaded' },
    });
    expect((await tus.create(1, {}, from(1))).status).toBe(201);
    // The first of them is idle by now.
    bed.clock.pass(10 * 60_000 + 1000);
    expect((await tus.create(1, {}, from(0))).status).toBe(201);
    expect((await tus.create(1, {}, from(0))).status).toBe(503);
  });

  it('that are not complete leave as many bytes to others, but for a single one', async () => {
    bed = await createTestBed({ quotaBytes: 10_000 });
    const alone = await createUpload(9000, {}, from(0));
    expect((await tus.append(alone, 0, Buffer.alloc(8999, 1), from(0))).status).toBe(204);
    expect((await tus.end(alone, from(0))).status).toBe(204);

    const [first, second] = [await createUpload(5000), await createUpload(5000)];
    expect((await tus.append(first, 0, Buffer.alloc(3000, 1))).status).toBe(204);
    expect((await tus.append(second, 0, Buffer.alloc(3500, 1))).status).toBe(204);
    expect(await tus.append(second, 3500, Buffer.alloc(1000, 1))).toMatchObject({
      status: 503,
      body: { code: 'overloaded' },
    });
    const stranger = await createUpload(3000, {}, from(1));
    const last = await tus.append(stranger, 0, Buffer.alloc(3000, 1), from(1));
    expect(last.headers['x-file-id']).toBe(stranger);
  });

  it('share their places with forms, and keep what came where they give way', async () => {
    bed = await createTestBed({ maxUploads: 1 });
    const id = await createUpload(1000);
    const { req, answer } = tus.beginAppend(id, 0, { headers: { 'content-length': '1000' } });
    req.write('x'.repeat(300));
    await until(async () => (await bed.store.sizeBytes(`1001/${id}`)) === 300);
    const ended = answer();
    expect((await bed.upload('a form')).status).toBe(201);
    expect(await ended).toMatchObject({ status: 204, headers: { 'upload-offset': '300' } });
    req.destroy();
  });
});
