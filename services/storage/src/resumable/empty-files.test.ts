import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anonymous, asKey, asUser } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BlobStoreUnavailable } from '../blob-store/blob-store.ts';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import { callId, createTestBed, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { type TusOptions, tusAt } from '../testing/tus.ts';

describe('a resumable upload of no bytes', () => {
  let bed: TestBed;
  afterEach(() => bed.close());
  const tus = tusAt(
    () => bed.http.url,
    () => bed.clock.now(),
  );
  const paying: TusOptions = {
    identity: anonymous({ reservation: { callId, millicredits: 1000, millicreditsPerUnit: 1000 } }),
  };

  it('is a file as soon as it is opened, and stays one whatever is asked or sent of it', async () => {
    bed = await createTestBed();
    const mine = { identity: asUser(userA) };
    const created = await tus.create(0, { filename: 'leer ü.txt' }, mine);
    const { id, file } = created.body;
    expect([created.status, file]).toEqual([
      201,
      { id, name: 'leer ü.txt', size: 0, url: expect.stringContaining(id) },
    ]);
    const told = { 'upload-offset': '0', 'x-file-id': id, 'x-file-url': file.url };
    expect(created.headers).toMatchObject({ ...told, location: `tus/${id}` });

    const asked = await tus.head(id, mine);
    expect([asked.status, asked.headers]).toEqual([
      200,
      expect.objectContaining({ ...told, 'upload-length': '0' }),
    ]);
    expect((await tus.get(id, mine)).body).toMatchObject({ offset: 0, length: 0, file });
    expect(await tus.append(id, 0, Buffer.alloc(0), mine)).toMatchObject({
      status: 204,
      headers: told,
    });
    expect((await tus.append(id, 1, Buffer.alloc(0), mine)).status).toBe(409);
    expect((await tus.end(id, mine)).status).toBe(409);
    expect((await tus.head(id, { identity: asUser(userB) })).status).toBe(404);

    const { body } = await bed.call('GET', '/storage/files', mine);
    expect(body.items).toMatchObject([{ id, size: 0, type: 'text/plain', ownerId: userA }]);
    expect(await bed.blobs()).toEqual([id]);
    expect(await bed.count('loose_blobs')).toBe(0);
    expect((await bed.call('DELETE', `/storage/files/${id}`, mine)).status).toBe(200);
    expect((await tus.head(id, mine)).status).toBe(404);
  });

  it.each([[{}], [{ range: 'bytes=0-' }], [{ range: 'bytes=-5' }], [{ range: 'bytes=3-4' }]])(
    'is read as nothing, whatever part is asked for: %j',
    async (headers) => {
      bed = await createTestBed();
      const { url } = (await tus.create(0)).body.file;
      for (const method of ['GET', 'HEAD']) {
        const read = await bed.get(url, { method, headers });
        expect([read.status, read.bytes.length, read.headers.get('content-length')]).toEqual([
          200,
          0,
          '0',
        ]);
      }
      const etag = (await bed.get(url)).headers.get('etag') ?? '';
      expect((await bed.get(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
      expect((await bed.get(`${url}?width=10`)).status).toBe(400);
    },
  );

  it('may be sent with the call that opens it, as there is nothing to send', async () => {
    bed = await createTestBed();
    const type = { 'content-type': 'application/offset+octet-stream' };
    const headers = { ...type, 'content-length': '0' };
    for (const way of [headers, { ...type, 'transfer-encoding': 'chunked' }]) {
      const { status, headers: told } = await tus.create(0, {}, { headers: way });
      expect([status, told['upload-offset'], told['x-file-id']]).toEqual([
        201,
        '0',
        expect.any(String),
      ]);
    }
    const begun = await tus.create(3, {}, { headers });
    expect(begun).toMatchObject({ status: 201, body: { file: null } });
    expect(begun.headers).toMatchObject({ 'upload-offset': '0' });
    expect(begun.headers).not.toHaveProperty('x-file-id');
    expect(await tus.append(begun.body.id, 0, Buffer.from('abc'))).toMatchObject({ status: 204 });
  });

  it('costs what the smallest file costs, once, by the call that opens it', async () => {
    bed = await createTestBed();
    const created = await tus.create(0, {}, paying);
    expect(created.headers['x-backlot-usage']).toBe('1000');
    const { id } = created.body;
    const later = [await tus.head(id), await tus.append(id, 0, Buffer.alloc(0), paying)];
    for (const { headers } of later) expect(headers).not.toHaveProperty('x-backlot-usage');
    expect(await bed.takeUsage()).toMatchObject([
      { callId, millicredits: 1000, units: { bytes: 0 } },
    ]);
    expect((await tus.create(3)).headers).not.toHaveProperty('x-backlot-usage');
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('is one file, and paid for once, under one Idempotency-Key, however many calls come at once', async () => {
    bed = await createTestBed();
    const keyed = { ...paying, headers: { 'idempotency-key': 'once' } };
    const answers = await Promise.all([1, 2, 3, 4].map(() => tus.create(0, {}, keyed)));
    answers.push(await tus.create(0, {}, keyed));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(await bed.count('files')).toBe(1);
    expect(await bed.takeUsage()).toHaveLength(1);
  });

  it('is none, costs nothing and takes no place where the store refuses it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const put = async () => {
      throw new BlobStoreUnavailable('not now');
    };
    bed = await createTestBed({}, { ...createFilesystemBlobStore(directory), put });
    const answer = await tus.create(0, {}, paying);
    expect(answer.status).toBe(503);
    expect(answer.headers).not.toHaveProperty('x-backlot-usage');
    expect(await bed.takeUsage()).toEqual([]);
    for (const table of ['files', 'resumable_uploads', 'loose_blobs'])
      expect([table, await bed.count(table)]).toEqual([table, 0]);
    await rm(directory, { recursive: true });
  });

  it('is none where its owner was erased, and nobody has it for nothing later', async () => {
    bed = await createTestBed();
    await bed.database.query('INSERT INTO erased_users VALUES (1001, $1, now())', [userA]);
    expect((await tus.create(0, {}, { identity: asUser(userA) })).status).toBe(401);
    const [open] = await bed.database.query<{ id: string }>('SELECT id FROM resumable_uploads');
    const mine = { identity: asUser(userA) };
    const id = open?.id ?? '';
    expect((await tus.head(id, mine)).status).toBe(404);
    expect((await tus.append(id, 0, Buffer.alloc(0), mine)).status).toBe(404);
    expect([await bed.count('files'), await bed.takeUsage()]).toEqual([0, []]);
  });

  it('does not make empty files of forms', async () => {
    bed = await createTestBed();
    expect(await bed.upload('', { identity: asKey() })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });
});
