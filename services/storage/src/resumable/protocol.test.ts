import { storageRoutes } from '@backlot/contract';
import { anonymous, asKey, asUser, makeRandomContent, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const MIB = 1024 * 1024;
const someId = '018f0000-0000-4000-8000-000000000000';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the tus protocol', () => {
  let bed: TestBed;
  const tus = tusAt(() => bed.http.url);
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const { createResumable, getResumable, appendResumable, deleteResumable } = storageRoutes;
  const one = `/storage/tus/${someId}`;
  refusesStrangers(
    createResumable,
    () => bed.http,
    () => ({ path: '/storage/tus' }),
  );
  for (const definition of [getResumable, appendResumable, deleteResumable])
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({ path: one, body: {} }),
    );

  const createUpload = async (...args: Parameters<typeof tus.create>): Promise<string> =>
    (await tus.create(...args)).body.id;

  it('makes a file of its parts, which its last answer and all later ones name', async () => {
    const content = makeRandomContent(300_000);
    const created = await tus.create(content.length, { filename: 'Bild ü.bin', other: 'x' });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.headers).toMatchObject({
      location: `tus/${id}`,
      'tus-resumable': '1.0.0',
      'upload-expires': expect.stringMatching(/GMT$/),
    });

    const first = await tus.append(id, 0, content.subarray(0, 100_000));
    expect(first).toMatchObject({ status: 204, body: '', headers: { 'upload-offset': '100000' } });
    expect(first.headers).not.toHaveProperty('x-file-id');
    const half = await tus.head(id);
    expect(half).toMatchObject({ status: 200, body: '' });
    expect(half.headers).toMatchObject({
      'tus-resumable': '1.0.0',
      'upload-offset': '100000',
      'upload-length': '300000',
      'upload-metadata': `filename ${base64('Bild ü.bin')},other ${base64('x')}`,
      'cache-control': 'no-store',
    });
    expect((await tus.get(id)).body).toMatchObject({ id, offset: 100_000, file: null });
    expect(
      (await bed.call('GET', `/storage/files/${id}/x`, { identity: anonymous() })).status,
    ).toBe(404);

    const last = await tus.append(id, 100_000, content.subarray(100_000));
    expect(last).toMatchObject({ status: 204, headers: { 'x-file-id': id } });
    const url = String(last.headers['x-file-url']);
    const found = await bed.get(url);
    expect(found.bytes.equals(content)).toBe(true);
    expect(found.headers.get('content-disposition')).toContain('attachment');
    expect(decodeURIComponent(url)).toMatch(/Bild ü\.bin$/);

    const later = await tus.head(id);
    expect(later.headers).toMatchObject({ 'upload-offset': '300000', 'x-file-url': url });
    expect(await tus.append(id, 300_000, Buffer.alloc(0))).toMatchObject({
      status: 204,
      headers: { 'x-file-id': id },
    });
    expect((await tus.get(id)).body.file).toMatchObject({ id, name: 'Bild ü.bin', size: 300_000 });
    expect(await tus.end(id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('reads pairs of Upload-Metadata with a space behind their comma', async () => {
    const sent = `filename ${base64('a.txt')}, visibility ${base64('private')} ,\tis_confidential`;
    const { status, body } = await tus.create(3, {}, { headers: { 'upload-metadata': sent } });
    expect(status).toBe(201);
    await tus.append(body.id, 0, Buffer.from('abc'));
    const [file] = await bed.database.query('SELECT name, visibility FROM files WHERE id = $1', [
      body.id,
    ]);
    expect(file).toEqual({ name: 'a.txt', visibility: 'private' });
  });

  it('refuses Upload-Metadata that says whom a file is for in words that it does not know', async () => {
    for (const key of ['access', 'is_private', 'group_id', 'expiresIn', 'Visibility']) {
      const answer = await tus.create(3, { [key]: 'private' });
      expect([key, answer.status, answer.body.code]).toEqual([key, 400, 'invalid_header']);
      expect(answer.body.error).toContain(`\`${key}\``);
    }
  });

  it.each([
    [412, 'precondition_failed', 'Tus-Resumable', { 'tus-resumable': '0.2.2' }],
    [412, 'precondition_failed', 'Tus-Resumable', { 'tus-resumable': undefined }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': undefined }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '' }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '00' }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '0, 0' }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '-1' }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '1e3' }],
    [400, 'invalid_header', 'Upload-Length', { 'upload-length': '9'.repeat(30) }],
    [413, 'body_too_large', '', { 'upload-length': String(50 * MIB + 1) }],
    [413, 'body_too_large', '', { 'upload-length': String(6 * 1024 * MIB) }],
    [400, 'invalid_header', 'Upload-Defer-Length', { 'upload-defer-length': '1' }],
    [
      400,
      'invalid_header',
      'Upload-Defer-Length',
      { 'upload-defer-length': '1', 'upload-length': undefined },
    ],
    [
      400,
      'invalid_header',
      'Upload-Defer-Length',
      { 'upload-defer-length': '1', 'upload-length': '0' },
    ],
    [400, 'invalid_header', 'Upload-Concat', { 'upload-concat': 'partial' }],
    [400, 'invalid_header', 'Upload-Metadata', { 'upload-metadata': 'filename not-base64!' }],
    [
      400,
      'invalid_header',
      'Upload-Metadata',
      { 'upload-metadata': 'filename YQ==,filename YQ==' },
    ],
    [400, 'invalid_header', 'Upload-Metadata', { 'upload-metadata': '__proto__ YQ==' }],
    [400, 'invalid_header', 'Upload-Metadata', { 'upload-metadata': ',' }],
    [400, 'invalid_header', 'Upload-Metadata', { 'upload-metadata': `a ${'A'.repeat(9000)}` }],
    [400, 'invalid_header', 'visibility', { 'upload-metadata': `visibility ${base64('secret')}` }],
    [
      415,
      'unsupported_media_type',
      '',
      { 'content-type': 'application/offset+octet-stream', 'content-length': '1' },
    ],
    [
      415,
      'unsupported_media_type',
      '',
      {
        'content-type': 'application/offset+octet-stream',
        'content-length': '1',
        'upload-length': '0',
      },
    ],
    [
      415,
      'unsupported_media_type',
      '',
      {
        'content-type': 'application/offset+octet-stream',
        'transfer-encoding': 'chunked',
        'upload-length': '0',
      },
    ],
  ])('answers %i %s to a creation with a wrong %s (%#)', async (status, code, field, headers) => {
    const isSent = 'content-length' in headers || 'transfer-encoding' in headers;
    const body = isSent ? { body: Buffer.from('x') } : {};
    const answer = await tus.create(10, {}, { headers, ...body });
    expect(answer).toMatchObject({
      status,
      body: { code, error: expect.stringContaining(field) },
      headers: { 'tus-resumable': '1.0.0' },
    });
    if (status === 412) expect(answer.headers['tus-version']).toBe('1.0.0');
    expect(await bed.database.query('SELECT FROM files WHERE size_bytes = 0')).toEqual([]);
  });

  it.each([
    [412, 'precondition_failed', 'Tus-Resumable', { 'tus-resumable': '2.0.0' }],
    [412, 'precondition_failed', 'Tus-Resumable', { 'tus-resumable': undefined }],
    [415, 'unsupported_media_type', '', { 'content-type': 'application/octet-stream' }],
    [415, 'unsupported_media_type', '', { 'content-type': undefined }],
    [415, 'unsupported_media_type', '', { 'content-encoding': 'gzip' }],
    [400, 'invalid_header', 'Upload-Offset', { 'upload-offset': undefined }],
    [400, 'invalid_header', 'Upload-Offset', { 'upload-offset': '-1' }],
    [400, 'invalid_header', 'Upload-Offset', { 'upload-offset': '1.5' }],
    [409, 'conflict', 'Upload-Offset', { 'upload-offset': '4' }],
    [409, 'conflict', 'Upload-Offset', { 'upload-offset': '10' }],
    [409, 'conflict', 'Upload-Offset', { 'upload-offset': '999999' }],
  ])('answers %i %s to a part with a wrong %s (%#)', async (status, code, field, headers) => {
    const id = await createUpload(10);
    await tus.append(id, 0, Buffer.from('abc'));
    expect(await tus.append(id, 3, Buffer.from('def'), { headers })).toMatchObject({
      status,
      body: { code, error: expect.stringContaining(field) },
      headers: { 'tus-resumable': '1.0.0' },
    });
    expect((await tus.head(id)).headers['upload-offset']).toBe('3');
    const { status: done, headers: last } = await tus.append(id, 3, Buffer.from('defghij'));
    expect(done).toBe(204);
    expect((await bed.get(String(last['x-file-url']))).bytes.toString()).toBe('abcdefghij');
  });

  it('takes no byte past the length, whether the part says its own or not', async () => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const id = await createUpload(10);
      const answer = await tus.append(id, 0, Buffer.alloc(200_000, 1), { headers });
      expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
      const offset = Number((await tus.head(id)).headers['upload-offset']);
      expect(offset).toBeLessThan(10);
      const rest = await tus.append(id, offset, Buffer.alloc(10 - offset, 2));
      expect(rest.headers['x-file-id']).toBe(id);
    }
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['a\0b\u202e.exe', 'ab.exe'],
    ['', 'file'],
    [`${'x'.repeat(300)}.png`, `${'x'.repeat(251)}.png`],
  ])('makes the name %j safe', async (filename, name) => {
    const id = await createUpload(1, { filename });
    await tus.append(id, 0, Buffer.from('x'));
    expect((await tus.get(id)).body.file.name).toBe(name);
  });

  it('keeps an upload to who opened it, and one that nobody did to those who know its id', async () => {
    const owned = await createUpload(10, { visibility: 'private' }, { identity: asUser(userA) });
    const open = await createUpload(10);
    const strangers = [anonymous(), asUser(userB), asKey(), asKey({ project: otherProject })];
    for (const identity of strangers) {
      const calls = [
        tus.get(owned, { identity }),
        tus.append(owned, 0, Buffer.from('x'), { identity }),
        tus.end(owned, { identity }),
      ];
      for (const { status, body } of await Promise.all(calls))
        expect([status, body.code]).toEqual([404, 'not_found']);
      expect((await tus.head(owned, { identity })).status).toBe(404);
    }
    const elsewhere = { identity: anonymous({ project: otherProject }) };
    expect((await tus.head(open, elsewhere)).status).toBe(404);
    expect((await tus.append(open, 0, Buffer.from('x'), elsewhere)).status).toBe(404);
    expect((await tus.append(open, 0, Buffer.from('x'), { identity: asUser(userB) })).status).toBe(
      204,
    );
    for (const id of ['x', someId, '%00', '..%2f..%2fetc'])
      expect((await tus.head(id)).status).toBe(404);

    await tus.append(owned, 0, Buffer.alloc(10, 1), { identity: asUser(userA) });
    const { url } = (await tus.get(owned, { identity: asUser(userA) })).body.file;
    expect((await bed.get(url)).status).toBe(404);
    expect((await bed.get(url, { identity: asUser(userA) })).status).toBe(200);
  });

  it('is opened once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [
      await createUpload(10, {}, { headers }),
      await createUpload(10, {}, { headers }),
    ];
    expect(second).toBe(first);
    expect((await tus.create(11, {}, { headers })).status).toBe(409);
  });
});
