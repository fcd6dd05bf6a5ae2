import { storageRoutes } from '@backlot/contract';
import { anonymous, asUser, makeRandomContent, refusesStrangers } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callId, createTestBed, type TestBed, userA } from '../testing/test-bed.ts';

const MIB = 1024 * 1024;
const reserved = (millicredits: number, settings = {}) => {
  const { project } = anonymous();
  return anonymous({
    project: { ...project, settings },
    reservation: { callId, millicredits, millicreditsPerUnit: 1000 },
  });
};

describe('uploadFile', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.uploadFile,
    () => bed.http,
    () => ({ path: '/storage/upload', body: {} }),
  );

  const rows = async () =>
    bed.database.query<{ blobs: number; loose: number; bytes: number }>(
      `SELECT (SELECT count(*) FROM files) AS blobs, (SELECT count(*) FROM loose_blobs) AS loose,
              coalesce((SELECT sum(bytes) FROM totals), 0)::bigint AS bytes`,
    );
  /** What a refused call may leave: nothing. */
  const expectNothingNew = async (work: () => Promise<unknown>) => {
    const before = [await rows(), await bed.blobs()];
    await work();
    expect([await rows(), await bed.blobs()]).toEqual(before);
    expect(await bed.takeUsage()).toEqual([]);
  };
  afterEach(() => bed.takeUsage());

  it('is done and counted for the operator where the name looks harmful', async () => {
    await bed.take('finding.seen');
    const ids: string[] = [];
    for (const name of ['notes.pdf', 'PayPal-login.html', 'invoice.pdf.exe']) {
      const { status, body } = await bed.upload(Buffer.from('x'), { name });
      expect(status).toBe(201);
      ids.unshift(body.id);
    }
    await bed.service.reportFindings();
    const signs = ['signInPage', 'doubleExtension'];
    const seen = { kind: 'fileNames', subject: '', signs, calls: 2, examples: ids.slice(0, 2) };
    expect(await bed.take('finding.seen')).toEqual([
      { projectNumber: anonymous().project.number, seen: [seen] },
    ]);
  });

  it('stores a file and gives back id, address, name, size and type', async () => {
    const content = makeRandomContent(3 * MIB);
    const { status, body } = await bed.upload(content, { name: 'data.bin' });
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['id', 'name', 'size', 'type', 'url']);
    expect(body).toMatchObject({ name: 'data.bin', size: content.length });
    expect(body.type).toBe('application/octet-stream');
    expect(body.url).toBe(
      `https://api.example.org/api/runtime/testproject/storage/files/${body.id}/data.bin`,
    );
    expect((await bed.get(body.url)).bytes.equals(content)).toBe(true);
  });

  it.each([
    [1, 1000],
    [10 * MIB, 1000],
    [10 * MIB + 1, 2000],
  ])('records %i bytes as %i millicredits, with the file and once', async (bytes, millicredits) => {
    const { status, headers } = await bed.upload(Buffer.alloc(bytes, 1), {
      identity: reserved(5000),
    });
    expect(status).toBe(201);
    expect(headers.get('x-backlot-usage')).toBe(String(millicredits));
    expect(await bed.takeUsage()).toMatchObject([
      { callId, millicredits, units: { bytes }, route: 'uploadFile' },
    ]);
  });

  it('is held to what was reserved, stated or not: 402', async () => {
    const big = Buffer.alloc(11 * MIB, 1);
    await expectNothingNew(async () => {
      expect(await bed.upload(big, { identity: reserved(1000) })).toMatchObject({
        status: 402,
        body: { code: 'out_of_credits' },
      });
      const { body, headers } = chunked(big);
      expect(await bed.send(body, headers, reserved(1000))).toMatchObject({ status: 402 });
    });
  });

  /** Of undeclared length. */
  const chunked = (content: Uint8Array) => {
    const head =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: x/y\r\n\r\n';
    const parts = [Buffer.from(head), content, Buffer.from('\r\n--b--\r\n')];
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(part);
        else controller.close();
      },
    });
    return { body, headers: { 'content-type': 'multipart/form-data; boundary=b' } };
  };

  it("cuts a file off past the project's limit: 413", async () => {
    const identity = anonymous({
      project: { ...anonymous().project, settings: { maxUploadBytes: 1000 } },
    });
    expect((await bed.upload(Buffer.alloc(1000, 1), { identity })).status).toBe(201);
    await expectNothingNew(async () => {
      for (const content of [Buffer.alloc(1001, 1), Buffer.alloc(3 * MIB, 1)]) {
        const refused = await bed.upload(content, { identity });
        expect(refused).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
      }
    });
  });

  it('refuses more than 50 MB where the project has set nothing', async () => {
    await expectNothingNew(async () => {
      const refused = await bed.upload(Buffer.alloc(50 * MIB + 1, 1));
      expect(refused).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    });
    expect((await bed.upload(Buffer.alloc(50 * MIB, 1))).status).toBe(201);
  });

  it('refuses fields that say whom a file is for in words that it does not know, and keeps nothing', async () => {
    const before = await bed.count('files');
    for (const field of ['access', 'isPublic', 'group_id', 'expiresIn', 'owner_id']) {
      const answer = await bed.upload('abc', { fields: { [field]: 'private' } });
      expect([field, answer.status, answer.body.code]).toEqual([field, 400, 'invalid_body']);
      expect(answer.body.error).toContain(`"${field}"`);
      expect(answer.body.hint).toMatch(/visibility|DELETE|belongs/);
    }
    const inQuery = await bed.call('POST', '/storage/upload?visibility=private', {
      identity: anonymous(),
      body: {},
    });
    expect(inQuery.status).not.toBe(201);
    expect(await bed.count('files')).toBe(before);
  });

  it('refuses an empty file', async () => {
    await expectNothingNew(async () => {
      expect(await bed.upload('')).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    });
  });

  it.each([
    ['unicode', 'Zürich 東京 👩‍👧.txt', 'Zürich 東京 👩‍👧.txt'],
    ['decomposed', 'e\u0301.txt', 'é.txt'],
    ['a path', '../../etc/passwd', 'passwd'],
    ["Windows' path", 'C:\\Users\\x\\a.txt', 'a.txt'],
    ['a device', 'CON', 'CON'],
    ['300 characters', `${'x'.repeat(296)}.txt`, `${'x'.repeat(251)}.txt`],
    ['a turned direction', 'invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['dots', '..', 'file'],
    ['quotes and percent signs', '50% "off".txt', '50% "off".txt'],
  ])('cleans %s', async (_what, name, cleaned) => {
    const { status, body } = await bed.upload('text', { name });
    expect([status, body.name]).toEqual([201, cleaned]);
    const { headers, status: found } = await bed.get(body.url);
    expect(found).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/^inline/);
  });

  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name = 'file', filename = 'a.txt') =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\nhello\r\n`;
  const end = '--b--\r\n';
  const form = 'multipart/form-data; boundary=b';

  it.each([
    ['two files', file() + file() + end, form, '"file"'],
    ['two files of two names', file() + file('other') + end, form, 'one file'],
    ['a file of another name', file('photo') + end, form, 'photo'],
    ['no file', field('a', 'b') + end, form, '"file"'],
    ['a field instead of a file', field('file', 'text') + end, form, '"file"'],
    ['a file without a name', file('file', '') + end, form, '"file"'],
    ['2,000 fields', field('a', 'b').repeat(2000) + file() + end, form, 'fields'],
    ['a field of 10 MB', field('a', 'b'.repeat(10 * MIB)) + file() + end, form, '"a"'],
    ['a field of a long name', field('a'.repeat(5000), 'b') + file() + end, form, ''],
    ['nested fields', field('a[b][c][d]', 'b') + file() + end, form, ''],
    ['no end', file(), form, 'incomplete'],
    ['nothing', '', form, ''],
    ['another boundary', file() + end, 'multipart/form-data; boundary=c', 'incomplete'],
    ['no boundary', file() + end, 'multipart/form-data', ''],
    ['a wrong visibility', field('visibility', 'secret') + file() + end, form, '"visibility"'],
    ['visibility twice', field('visibility', 'private').repeat(2) + file() + end, form, '"visib'],
    ['a wrong visibility after it', file() + field('visibility', 'x') + end, form, '"visib'],
    ['no form at all', 'junk', form, ''],
  ])('answers 400 for %s and keeps nothing', async (_what, body, type, named) => {
    await expectNothingNew(async () => {
      const answer = await bed.send(body, { 'content-type': type }, reserved(1000));
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain(named);
    });
  });

  it('takes the visibility before or after the file', async () => {
    const identity = reserved(1000);
    for (const body of [
      field('visibility', 'private') + file() + end,
      file() + field('visibility', 'private') + end,
    ]) {
      const answer = await bed.send(body, { 'content-type': form }, identity);
      expect([answer.status, answer.body.type]).toEqual([201, 'text/plain']);
      const [row] = await bed.database.query<{ visibility: string }>(
        'SELECT visibility FROM files WHERE id = $1',
        [answer.body.id],
      );
      expect(row).toEqual({ visibility: 'private' });
      expect((await bed.get(answer.body.url)).status).toBe(404);
    }
  });

  it.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed',
  ])('answers 415 for %s', async (type) => {
    await expectNothingNew(async () => {
      expect(await bed.send('{}', { 'content-type': type })).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
    });
  });

  it('charges, and is held to, the price that was in force when it was admitted', async () => {
    const priced = (millicredits: number) => ({
      identity: anonymous({ reservation: { callId, millicredits, millicreditsPerUnit: 700 } }),
    });
    const { headers } = await bed.upload(Buffer.alloc(11 * MIB), priced(1400));
    expect(headers.get('x-backlot-usage')).toBe('1400');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1400 }]);
    expect((await bed.upload(Buffer.alloc(11 * MIB), priced(1399))).status).toBe(402);
  });

  it('answers the same under one Idempotency-Key and stores one file', async () => {
    const options = {
      identity: asUser(userA, {
        reservation: { callId, millicredits: 1000, millicreditsPerUnit: 1000 },
      }),
      headers: { 'idempotency-key': 'k1' },
    };
    const answers = await Promise.all([1, 2, 3, 4].map(() => bed.upload('the same', options)));
    const done = answers.filter(({ status }) => status === 201);
    expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const replay = await bed.upload('the same', options);
    expect(replay.body).toEqual(done[0]?.body);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.headers.get('x-backlot-usage')).toBeNull();
    expect(await bed.takeUsage()).toHaveLength(1);
    for (const changed of [{ content: 'other' }, { name: 'other.txt' }]) {
      const { content = 'the same', ...rest } = { name: 'a.txt', ...changed };
      expect(await bed.upload(content, { ...options, ...rest })).toMatchObject({
        status: 409,
        body: { code: 'idempotency_mismatch' },
      });
    }
    const [count] = await bed.database.query<{ files: number }>(
      'SELECT count(*) AS files FROM files WHERE owner_id = $1',
      [userA],
    );
    expect(count?.files).toBe(1);
    expect(await bed.blobs()).toHaveLength((await rows())[0]?.blobs ?? -1);
  });
});
