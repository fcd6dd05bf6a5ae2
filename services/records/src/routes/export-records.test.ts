import { recordRoutes } from '@backlot/contract';
import { cpuWork, heldMemory, toRequester } from '@backlot/fair-shares';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  refusesStrangers,
  signed,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { fullAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { splitFilter } from '../query/selection.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createExports } from '../transfer/export/exports.ts';
import { parseWhere } from '../where/parse.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const set = async (name: string, body: object) => {
  const path = `/platform/projects/${testProject.id}/collections/${name}`;
  const { status } = await bed.call('PUT', path, { identity: asOwner(), body });
  expect(status).toBe(200);
};
const fill = async (name: string, documents: readonly object[], identity = asUser(ada)) => {
  for (let start = 0; start < documents.length; start += 500) {
    const create = documents.slice(start, start + 500).map((data) => ({ data }));
    const made = await bed.call('POST', `/db/${name}/_batch`, { identity, body: { create } });
    expect(made.status).toBe(200);
  }
};
const download = (name: string, query = '', identity = asKey()) =>
  bed.call('GET', `/db/${name}/_export?${query}`, { identity });
const toLines = (text: string) => text.split('\n').filter((line) => line !== '');
const count = (n: number) => Array.from({ length: n }, (_, i) => ({ n: i }));

describe('GET /db/<collection>/_export', () => {
  it('answers each record as the line that a GET answers, oldest first', async () => {
    await fill('plain', [...count(2300), { text: 'a\nb "c" é', nested: { list: [1, null] } }, {}]);
    const { status, headers, body } = await download('plain');
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
      'attachment; filename="plain.ndjson"',
    ]);
    const lines = toLines(body);
    expect(lines.slice(0, 2300).map((line) => JSON.parse(line).n)).toEqual(
      count(2300).map(({ n }) => n),
    );
    for (const line of [lines[0], lines.at(-2), lines.at(-1)] as string[]) {
      const { id } = JSON.parse(line);
      const one = await fetch(`${bed.http.url}/db/plain/${id}`, {
        headers: { [identityHeader]: signed(asKey(), recordRoutes.getRecord) },
      });
      expect(await one.text()).toBe(line);
    }
  });

  it('goes on behind the last line that has come', async () => {
    await fill('cut', count(1200));
    const all = toLines((await download('cut')).body);
    const { id } = JSON.parse(all[1100] ?? '');
    expect(toLines((await download('cut', `after=${id}`)).body)).toEqual(all.slice(1101));
    const last = JSON.parse(all.at(-1) ?? '').id;
    expect(await download('cut', `after=${last}`)).toMatchObject({ status: 200, body: '' });
  });

  it('shows what the caller may read, of what fits', async () => {
    const access = {
      read: ['owner', { to: ['anyone'], where: { open: true } }],
      create: ['users'],
      change: ['owner'],
      fields: { secret: { read: ['owner'] } },
    };
    await set('mixed', { access });
    await fill('mixed', [
      { n: 1, secret: 'a' },
      { n: 2, open: true, secret: 'b' },
    ]);
    await fill('mixed', [{ n: 3, secret: 'c' }], asUser(bob));
    const shown = async (identity: ReturnType<typeof asKey>, query = '') =>
      toLines((await download('mixed', query, identity)).body).map((line) => {
        const { n, secret } = JSON.parse(line);
        return [n, secret];
      });
    expect(await shown(asKey())).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(await shown(asUser(ada))).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(await shown(asUser(bob))).toEqual([
      [2, undefined],
      [3, 'c'],
    ]);
    expect(await shown(anonymous())).toEqual([[2, undefined]]);
    expect(await shown(asUser(ada), 'mine=1&where={"n":{"$gt":1}}')).toEqual([[2, 'b']]);
    expect(await shown(asUser(bob), `where=${encodeURIComponent('{"secret":"b"}')}`)).toEqual([]);
    const csv = await download('mixed', 'format=csv', anonymous());
    expect(csv.body.split('\r\n')[0]).toBe(
      '"id","ownerId","createdAt","updatedAt","n","open","_rest"',
    );
  });

  it('ends where what the caller may read changes meanwhile', async () => {
    bed.people.set(ada, { role: 'user', groups: [] });
    const text = 'x'.repeat(900_000);
    for (let n = 0; n < 4; n++)
      await fill(
        'long',
        Array.from({ length: 8 }, () => ({ text })),
      );
    const begin = async () => {
      const headers = {
        [identityHeader]: signed(asUser(ada), recordRoutes.exportRecords, bed.clock.now()),
      };
      const { body } = await fetch(`${bed.http.url}/db/long/_export`, { headers });
      const reader = body?.getReader();
      await reader?.read();
      return reader;
    };
    const readRest = async (reader: Awaited<ReturnType<typeof begin>>) => {
      let bytes = 0;
      for (;;) {
        const { value, done = true } = (await reader?.read()) ?? {};
        if (done) return bytes;
        bytes += value?.length ?? 0;
      }
    };
    const changed = await begin();
    bed.people.set(ada, { role: 'staff', groups: [] });
    bed.clock.pass(5000);
    await expect(readRest(changed)).rejects.toThrow();
    bed.people.set(ada, { role: 'user', groups: [] });
    const closed = await begin();
    await set('long', { access: { read: ['role:staff'], create: [], change: [] } });
    expect(await readRest(closed)).toBeLessThan(31 * text.length);
  });

  it('is CSV in which no text is a formula, and all of a record', async () => {
    const dangerous = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', "'=1", '＝1'];
    await fill('cells', [
      { text: 'plain', n: -5, ok: true, tags: ['a', { b: 1 }], '=head()': '=cmd()' },
      ...dangerous.map((text) => ({ text })),
      { text: '', n: null },
    ]);
    const { body, headers } = await download('cells', 'format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const rows: Record<string, string>[] = parse(body, { columns: true });
    expect(Object.keys(rows[0] ?? {})).toEqual([
      'id',
      'ownerId',
      'createdAt',
      'updatedAt',
      'text',
      'n',
      "'=head()",
      'ok',
      'tags',
      '_rest',
    ]);
    expect(rows[0]).toMatchObject({
      n: '-5',
      ok: 'true',
      tags: '["a",{"b":1}]',
      "'=head()": "'=cmd()",
    });
    expect(rows.slice(1, -1).map(({ text }) => text)).toEqual(dangerous.map((text) => `'${text}`));
    const columns = await download('cells', 'format=csv&fields=n,_rest');
    expect(columns.body.split('\r\n')[0]).toBe('"id","n","_rest"');
    expect(JSON.parse(parse(columns.body)[1]?.[2] ?? '')).toMatchObject({
      text: 'plain',
      ok: true,
    });
    const lines = toLines((await download('cells', 'fields=n')).body);
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual(['id', 'n']);
  });

  it('says by empty lines that it still looks', async () => {
    await fill('sparse', [...count(2500), { last: true }]);
    const places = cpuWork({ places: 1 });
    const { database } = bed;
    const shares = { scans: places, largeReads: places, answers: heldMemory({ places: 48 }) };
    const exports = createExports({ database, ...shares, silentMs: -1 });
    const found = await bed.database.query<{ id: number }>(
      `SELECT coll_id AS id FROM collections WHERE name = 'sparse'`,
    );
    const collection: Collection = {
      projectNumber: testProject.number,
      id: found[0]?.id ?? 0,
      name: 'sparse',
      access: 'shared',
      epoch: 1,
      slots: [],
      unique: [],
    };
    const filter = splitFilter(parseWhere('{"last":true}'));
    const select = async () => ({
      collection,
      access: fullAccess('shared'),
      filter,
      ownerId: undefined,
    });
    const requester = toRequester({ project: testProject, ip: '192.0.2.1' });
    const options = { format: 'ndjson', columns: undefined, after: undefined } as const;
    const parts = exports.open(select, options, { requester });
    const texts: string[] = [];
    for (let part = await parts.next(); part !== undefined; part = await parts.next())
      texts.push(part.toString());
    parts.close();
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.slice(0, -1).every((text) => text === '\n')).toBe(true);
    expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ last: true });
  });

  it('refuses what it does not understand, before the first line', async () => {
    expect(await download('nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const [query, code] of [
      ['format=xml', 'invalid_query'],
      ['where={', 'invalid_where'],
      ['fields=a,,b', 'invalid_query'],
      ['after=7', 'invalid_query'],
      ['mine=1', 'unauthenticated'],
    ] as const)
      expect((await download('plain', query)).body.code).toBe(code);
    await set('closed', { access: { read: ['users'], create: ['users'], change: ['users'] } });
    expect((await download('closed', '', anonymous())).status).toBe(401);
  });

  refusesStrangers(
    recordRoutes.exportRecords,
    () => bed.http,
    () => ({ path: '/db/plain/_export' }),
  );
});
