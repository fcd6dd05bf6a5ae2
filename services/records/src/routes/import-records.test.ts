import { recordRoutes } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import { asKey, asOwner, refusesStrangers, signed, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { V7Generator } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
  bed.people.set(ada, { role: 'user', groups: [] });
});
afterAll(() => bed.close());

const ids = new V7Generator();
const newId = () => ids.generate().toString();
const set = async (name: string, body: object) => {
  const path = `/platform/projects/${testProject.id}/collections/${name}`;
  const { status } = await bed.call('PUT', path, { identity: asOwner(), body });
  expect(status).toBe(200);
};
const send = (name: string, body: string | Uint8Array, query = 'format=ndjson', headers = {}) =>
  bed.call('POST', `/db/${name}/_import?${query}`, { identity: asKey(), body, headers });
const toLines = (records: readonly unknown[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const read = async (name: string, format = 'ndjson'): Promise<string> =>
  (await bed.call('GET', `/db/${name}/_export?format=${format}`, { identity: asKey() })).body;
const records = async (name: string) =>
  (await read(name))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const types = (given: object) => `types=${encodeURIComponent(JSON.stringify(given))}`;

describe('POST /db/<collection>/_import', () => {
  it('makes records in the order of lines, once, however often they are sent', async () => {
    const name = newId();
    const body = toLines(Array.from({ length: 1300 }, (_, n) => ({ n })));
    const query = `format=ndjson&import=${name}`;
    const first = await send('once', body, query);
    expect(first).toMatchObject({ status: 200 });
    expect(first.body).toEqual({
      import: name,
      created: 1300,
      skipped: 0,
      failed: [],
      failedCount: 0,
      next: null,
    });
    expect((await records('once')).map(({ n }) => n)).toEqual(
      Array.from({ length: 1300 }, (_, n) => n),
    );
    const again = await Promise.all([send('once', body, query), send('once', body, query)]);
    for (const { body } of again) expect(body).toMatchObject({ created: 0, skipped: 1300 });
    const rest = await send('once', `${body}{"n":1300}\n`, `${query}&from=1300`);
    expect(rest.body).toMatchObject({ created: 1, skipped: 1 });
    const part = await send('once', '{"n":1300}\n{"n":1301}', `${query}&firstLine=1301`);
    expect(part.body).toMatchObject({ created: 1, skipped: 1 });
    expect(await records('once')).toHaveLength(1302);
    expect((await send('once', body, 'format=ndjson&from=2')).body.code).toBe('invalid_query');
  });

  it('of parallel calls with the same lines makes each once', async () => {
    await set('parallel', { unique: ['n'] });
    const body = toLines(Array.from({ length: 900 }, (_, n) => ({ n })));
    const query = `format=ndjson&import=${newId()}`;
    const all = await Promise.all([1, 2, 3, 4].map(() => send('parallel', body, query)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(all.reduce((sum, { body }) => sum + body.created, 0)).toBe(900);
    expect(all.flatMap(({ body }) => body.failed)).toEqual([]);
    expect(await records('parallel')).toHaveLength(900);
  });

  it('keeps what it has made where the caller goes, and makes the rest afterwards', async () => {
    const name = newId();
    const lines = Array.from({ length: 4000 }, (_, n) => `${JSON.stringify({ n })}\n`);
    const gone = new AbortController();
    const half = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from(lines.slice(0, 2500).join('')));
        controller.enqueue(Buffer.from('{"n":25'));
      },
    });
    const cut = fetch(`${bed.http.url}/db/torn/_import?format=ndjson&import=${name}`, {
      method: 'POST',
      body: half,
      duplex: 'half',
      signal: gone.signal,
      headers: { [identityHeader]: signed(asKey(), recordRoutes.importRecords) },
    } as RequestInit);
    const made = async () =>
      (await bed.call('GET', '/db/torn/_count', { identity: asKey() })).body.count;
    await until(async () => (await made()) >= 1000);
    gone.abort();
    await expect(cut).rejects.toThrow();
    const before = await made();
    const { body } = await send('torn', lines.join(''), `format=ndjson&import=${name}`);
    expect(body).toMatchObject({ failed: [], next: null });
    expect(body.created + body.skipped).toBe(4000);
    expect(body.skipped).toBeGreaterThanOrEqual(before);
    expect((await records('torn')).map(({ n }) => n)).toEqual(lines.map((_, n) => n));
  });

  it('names the lines that make nothing, and makes the others', async () => {
    await set('strict', {
      unique: ['code'],
      schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    });
    const good = Array.from({ length: 600 }, (_, n) => JSON.stringify({ n, code: `c${n}` }));
    const lines = [...good];
    lines[9] = '{"n":"nine"}';
    lines[10] = '';
    lines[11] = '{broken';
    lines[12] = '[1]';
    lines[13] = '{"n":1,"a.b":2}';
    lines[14] = '{"n":14,"code":"c500"}';
    lines[15] = `{"n":15,"text":"${'x'.repeat(1.3 * 1024 * 1024)}"}`;
    lines[16] = '{"n":12345678901234567890}';
    const { status, body } = await send('strict', `\ufeff${lines.join('\r\n')}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: 592, skipped: 0, failedCount: 7, next: null });
    const failed: { line: number; code: string; error: string }[] = body.failed;
    expect(failed.map(({ line, code }) => [line, code])).toEqual([
      [10, 'schema_mismatch'],
      [12, 'invalid_json'],
      [13, 'invalid_data'],
      [14, 'invalid_data'],
      [16, 'body_too_large'],
      [17, 'invalid_data'],
      [501, 'not_unique'],
    ]);
    expect(failed.some(({ error }) => error.includes('create['))).toBe(false);
    const many = await send('strict', '{"n":"x"}\n'.repeat(150));
    expect(many.body).toMatchObject({ created: 0, failedCount: 150, next: null });
    expect(many.body.failed).toHaveLength(100);
  });

  it('keeps ids, owners and times, and nothing that is not so', async () => {
    await set('kept', { access: 'team', limits: { perUser: 5 } });
    const id = newId();
    const groupId = newId();
    const createdAt = '2020-02-03T04:05:06.789Z';
    const lines = [
      { id: id.toUpperCase(), ownerId: ada, groupId, updatedAt: createdAt, n: 0 },
      { ownerId: null, createdAt, n: 1 },
      { id: 42, n: 2 },
      { ownerId: bob, n: 3 },
      { createdAt: 'yesterday', n: 4 },
      { id: '9fffffff-ffff-7000-8000-000000000000', n: 5 },
      { id, n: 6 },
    ];
    const query = `format=ndjson&import=${newId()}`;
    const { body } = await send('kept', toLines(lines), query);
    expect(body).toMatchObject({ created: 2, skipped: 1, failedCount: 4 });
    expect(
      body.failed.map(({ line, code }: { line: number; code: string }) => [line, code]),
    ).toEqual([3, 4, 5, 6].map((line) => [line, 'invalid_data']));
    const loose = `${query}&idField=legacyId&unknownOwners=drop`;
    expect((await send('kept', toLines(lines), loose)).body).toMatchObject({
      created: 2,
      skipped: 3,
      failedCount: 2,
    });
    for (const own of ['ownerId', 'createdAt', 'groupId'])
      expect(await send('kept', toLines(lines), `${query}&idField=${own}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_query' },
      });
    const all = await records('kept');
    const find = (n: number) => all.find((record) => record.n === n);
    expect(all).toHaveLength(4);
    expect(find(0)).toMatchObject({ id, ownerId: ada, groupId });
    expect(find(1)).toMatchObject({ ownerId: null, createdAt });
    expect(find(2)).toMatchObject({ legacyId: 42 });
    expect(find(3)).toMatchObject({ ownerId: null });
    expect(Date.parse(find(0).updatedAt)).toBeGreaterThan(Date.parse(createdAt));
    const counted = await bed.database.query<{ key: string; records: number }>(
      'SELECT key, records FROM record_counts WHERE key = $1',
      [ada],
    );
    expect(counted).toEqual([{ key: ada, records: 1 }]);
    const { status } = await bed.call('DELETE', `/db/kept/${id}`, { identity: asKey() });
    expect(status).toBe(200);
    expect(
      await bed.database.query('SELECT FROM record_counts WHERE key = $1 AND records <> 0', [ada]),
    ).toEqual([]);
  });

  it('guesses the types of columns, says them and takes others', async () => {
    const csv = [
      'name;zip;size;ok;tags;big;empty;"a ""b"""',
      'Anna;01234;1.5;true;"[1,{""x"":2}]";12345678901234567890;;"x',
      'y"',
      '"";02345;-2;false;{};1;;z',
    ].join('\r\n');
    const guessed = { name: 'text', zip: 'text', size: 'number', ok: 'boolean', tags: 'json' };
    const { body } = await send('typed', csv, 'format=csv');
    expect(body).toMatchObject({ created: 2, failed: [], types: { ...guessed, big: 'text' } });
    const [first, second] = await records('typed');
    expect(first).toMatchObject({
      name: 'Anna',
      zip: '01234',
      size: 1.5,
      ok: true,
      tags: [1, { x: 2 }],
      big: '12345678901234567890',
      'a "b"': 'x\r\ny',
    });
    expect(Object.hasOwn(first, 'empty')).toBe(false);
    expect(second).toMatchObject({ name: '', size: -2, tags: {} });
    const told = await send('told', csv, `format=csv&${types({ size: 'text', name: 'number' })}`);
    expect(told.body).toMatchObject({ created: 1, types: { size: 'text', name: 'number' } });
    expect(told.body.failed).toMatchObject([{ line: 2, code: 'invalid_data' }]);
    await set('schemed', { schema: { type: 'object', properties: { zip: { type: 'number' } } } });
    expect((await send('schemed', 'zip\n7\n', 'format=csv')).body.types).toEqual({ zip: 'number' });
    for (const wrong of ['{"nowhere":"text"}', '{"zip":"date"}', '[]', '{'])
      expect(
        (await send('typed', csv, `format=csv&types=${encodeURIComponent(wrong)}`)).body.code,
      ).toBe('invalid_query');
  });

  it('reads CSV up to what is broken, and says where to go on', async () => {
    const csv = `n,text\r\n1,"two\r\nlines"\r\n\r\n3,four,five\r\n4,x\r\n5,"a" b\r\n6,y\r\n`;
    const { body } = await send('broken', csv, `format=csv&import=${newId()}`);
    expect(body).toMatchObject({
      created: 2,
      failedCount: 1,
      failed: [{ line: 5, code: 'invalid_data' }],
      next: 7,
      stopped: { code: 'invalid_body' },
    });
    const behind = await send(
      'broken',
      `n,text\n6,y\n`,
      `format=csv&firstLine=8&import=${newId()}`,
    );
    expect(behind.body).toMatchObject({ created: 1, next: null });
    expect((await records('broken')).map(({ n }) => n)).toEqual([1, 4, 6]);
    for (const text of ['a,a\n1,2', 'a,\n1,2', 'a\n"', Buffer.from('a\n\xff\n', 'latin1')])
      expect(await send('nothing', text, 'format=csv')).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
  });

  it.each(['ndjson', 'csv'])('takes what an export of %s gives, unchanged', async (format) => {
    const documents = [
      { text: '=1+1', n: -5, ok: true, list: [1, 'a', null], "'=x": "'=y" },
      { text: '42', n: 1e-7, ok: false, list: [{ a: '\n"' }], more: '' },
      { text: '', n: 2 ** 40, 'späte Größe': { tief: ['é', '😀'] } },
      {},
    ];
    const create = documents.map((data) => ({ data }));
    const source = `source-${format}`;
    await bed.call('POST', `/db/${source}/_batch`, { identity: asKey(), body: { create } });
    const exported = await read(source, format);
    const { body } = await send(`copy-${format}`, exported, `format=${format}`);
    expect(body).toMatchObject({ created: 4, failed: [], next: null });
    const strip = (all: Record<string, unknown>[]) =>
      all.map(({ updatedAt: _updatedAt, ...rest }) => rest);
    expect(strip(await records(`copy-${format}`))).toEqual(strip(await records(source)));
    const again = await send(source, exported, `format=${format}`);
    expect(again.body).toMatchObject({ created: 0, skipped: 4, next: null });
  });

  it('checks in a dry run, and writes nothing', async () => {
    await set('dry', { schema: { type: 'object', properties: { n: { type: 'number' } } } });
    const { body } = await send('dry', '{"n":1}\n{"n":"x"}\n', 'format=ndjson&dryRun=1');
    expect(body).toMatchObject({ created: 1, failedCount: 1, next: null, dryRun: true });
    expect(await records('dry')).toEqual([]);
    const nowhere = await send('dry-nowhere', 'a\n1\n', 'format=csv&dryRun=1');
    expect(nowhere.body).toMatchObject({ created: 1, types: { a: 'number' } });
    const path = '/db/dry-nowhere/_export';
    expect((await bed.call('GET', path, { identity: asKey() })).status).toBe(404);
  });

  it('stops where the quota ends, and goes on from there', async () => {
    const limits = { records: 700, bytes: 10 ** 9 };
    const small = await createTestBed({}, { project: limits });
    try {
      const call = (from: string) =>
        small.call('POST', `/db/full/_import?format=ndjson&import=${name}${from}`, {
          identity: asKey(),
          body: '{"n":1}\n'.repeat(1000),
        });
      const name = newId();
      expect((await call('')).body).toMatchObject({
        created: 700,
        failed: [],
        next: 701,
        stopped: { code: 'quota_reached' },
      });
      const again = await call('&from=701');
      expect([again.status, again.body.code]).toEqual([403, 'quota_reached']);
    } finally {
      await small.close();
    }
  });

  it('refuses what it can not read', async () => {
    const json = { 'content-type': 'application/json' };
    for (const [query, headers, code] of [
      ['', json, 'unsupported_media_type'],
      ['format=ndjson', { 'content-encoding': 'gzip' }, 'unsupported_media_type'],
      ['format=ndjson', { 'idempotency-key': 'a' }, 'invalid_header'],
      ['format=ndjson&import=018f0000-0000-4000-8000-0000000000a1', {}, 'invalid_query'],
      ['format=ndjson&from=0', {}, 'invalid_query'],
    ] as const)
      expect((await send('refused', '{}\n', query, headers)).body.code).toBe(code);
    const typed = await send('by-type', 'a\n1\n', '', {
      'content-type': 'text/csv; charset=utf-8',
    });
    expect(typed.body).toMatchObject({ created: 1 });
  });

  refusesStrangers(
    recordRoutes.importRecords,
    () => bed.http,
    () => ({
      path: '/db/strangers/_import?format=ndjson',
      body: '{"n":1}\n',
    }),
  );
});
