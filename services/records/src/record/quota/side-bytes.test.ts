import type { Identity } from '@backlot/identity';
import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { countCollections, foldTotals } from './totals.ts';

const MB = 1_000_000;
const quotaReached = { status: 403, body: { code: 'quota_reached' } };

describe('what is kept beside records', () => {
  let bed: TestBed;
  let projects = 6000;
  beforeAll(async () => {
    bed = await createTestBed({}, { project: { records: 1000, bytes: MB } });
  });
  afterAll(() => bed.close());

  const newProject = () => {
    const number = ++projects;
    return asKey({ project: { ...testProject, id: `p${number}`, number } });
  };
  const call = (identity: Identity, method: string, at: string, body?: object) =>
    bed.call(method, `/db/notes${at}`, { identity, ...(body && { body }) });
  const collectionsPath = ({ project }: Identity) => `/platform/projects/${project.id}/collections`;
  const put = (identity: Identity, body: object) =>
    bed.call('PUT', `${collectionsPath(identity)}/notes`, {
      identity: asOwner({ project: identity.project }),
      body,
    });
  const shown = async (identity: Identity) => {
    const owner = asOwner({ project: identity.project });
    const { body } = await bed.call('GET', collectionsPath(identity), { identity: owner });
    return { ...body.items[0], total: body.totalBytes };
  };
  const untilIs = (identity: Identity, state: string) =>
    until(async () => {
      const { search, unique } = await shown(identity);
      const all = [...(search ? [search] : []), ...unique];
      return all.every((part: { state: string }) => part.state === state);
    });
  /** Bytes of the rows as they are stored. */
  const stored = async ({ project: { number } }: Identity) => {
    const [row] = await bed.database.query<
      Record<'records' | 'words' | 'claims' | 'shares', number>
    >(
      `SELECT (SELECT coalesce(sum(size_bytes), 0)::int8 FROM records WHERE project_id = $1) AS records,
         (SELECT coalesce(sum(words_size(words)), 0)::int8 FROM search_texts WHERE project_id = $1) AS words,
         (SELECT count(*) FROM unique_values WHERE project_id = $1) AS claims,
         (SELECT coalesce(sum(300 + 4 * octet_length(email)), 0)::int8 FROM shares WHERE project_id = $1) AS shares`,
      [number],
    );
    if (!row) throw new Error('no sums');
    return { ...row, total: row.records + row.words + row.claims * 200 + row.shares };
  };
  /** Short words, none of which comes twice. */
  const words = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `w${(from * 10_000 + i).toString(36)}`).join(' ');

  it('counts with every way of writing, and while it is switched on and off', async () => {
    const identity = newProject();
    const text = (i: number) => ({ text: words(i, 5), n: i, tag: `t${i}` });
    const write = async (writer: number) => {
      for (let i = 0; i < 12; i++) {
        const n = writer * 100 + i;
        const made = (await call(identity, 'POST', '', { data: text(n) })).body.id;
        const at = `/${made}`;
        await call(identity, 'PATCH', at, { data: { text: words(n, 9) }, inc: { n: 1000 } });
        await call(identity, 'PUT', at, { data: text(n + 2000) });
        await call(identity, 'PATCH', at, { data: { tag: 't1' } });
        const upserted = uuidv7();
        await call(identity, 'PUT', `/${upserted}?upsert=1`, { data: text(n + 3000) });
        await call(identity, 'POST', '/_batch', {
          create: [{ data: text(n + 4000) }],
          update: [{ id: made, data: { text: 'short' }, unset: ['n'] }],
          delete: i % 2 ? [upserted] : [],
        });
        if (i % 3 === 0) await call(identity, 'DELETE', at);
      }
    };
    const change = async () => {
      for (const body of [
        { search: true, unique: ['n'] },
        { search: ['text'], unique: ['n', 'tag'] },
        { search: false, unique: [] },
        { search: ['text', 'tag'], unique: ['n'] },
      ]) {
        expect((await put(identity, body)).status).toBe(200);
        for (let i = 0; i < 4; i++) await call(identity, 'POST', '', { data: {} });
      }
    };
    await call(identity, 'POST', '', { data: text(9000) });
    await Promise.all([change(), write(1), write(2)]);
    await untilIs(identity, 'ready');
    const dropping = `SELECT 1 FROM searches WHERE state = 'dropping' UNION ALL SELECT 1 FROM unique_fields WHERE state = 'dropping'`;
    await until(async () => (await bed.database.query(dropping)).length === 0);
    const sums = await stored(identity);
    expect(Math.min(sums.words, sums.claims)).toBeGreaterThan(0);
    expect(await shown(identity)).toMatchObject({ sizeBytes: sums.total, total: sums.total });
    // Counted anew they are the same.
    await bed.database.query('UPDATE collections SET counted_at = NULL, byte_count = 5');
    await until(async () => {
      await countCollections(bed.database);
      await foldTotals(bed.database);
      const left = 'SELECT 1 FROM collections WHERE counted_at IS NULL';
      return (await bed.database.query(left)).length === 0;
    });
    expect((await shown(identity)).sizeBytes).toBe(sums.total);
  });

  it('counts shares with every way that they come and go', async () => {
    const identity = newProject();
    const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner', 'shared'] };
    await put(identity, { access });
    const share = (id: string, body: object) => call(identity, 'PUT', `/${id}/_shares`, body);
    const unshare = (id: string, who: string) => call(identity, 'DELETE', `/${id}/_shares/${who}`);
    const ids: string[] = [];
    for (let i = 0; i < 4; i++)
      ids.push((await call(identity, 'POST', '', { data: { i } })).body.id);
    const users = ids.map(() => uuidv7());
    for (const id of ids) {
      for (const [n, userId] of users.entries()) {
        await share(id, { userId, may: 'read' });
        await share(id, { email: `user${n}@example.com`, may: 'read' });
      }
      await share(id, { userId: users[0], may: 'change' });
      await share(id, { email: 'user1@example.com', may: 'change' });
      await unshare(id, users[1] ?? '');
      await unshare(id, 'user2@example.com');
    }
    expect((await stored(identity)).shares).toBe(4 * (3 * 300 + 3 * (300 + 4 * 17)));
    const { id: projectId, number: projectNumber } = identity.project;
    const account = { userId: uuidv7(), email: 'user3@example.com', emailVerified: true };
    const payload = { projectId, projectNumber, ...account };
    await bed.bus.publish({ id: uuidv7(), topic: 'user.erased', payload });
    await until(async () => (await stored(identity)).shares === 4 * (3 * 300 + 2 * (300 + 4 * 17)));
    await call(identity, 'DELETE', `/${ids[0]}`);
    await call(identity, 'POST', '/_batch', { delete: [ids[1]] });
    const sums = await stored(identity);
    expect(sums.shares).toBe(2 * (3 * 300 + 2 * (300 + 4 * 17)));
    expect(await shown(identity)).toMatchObject({ sizeBytes: sums.total, total: sums.total });
    await bed.database.query(`UPDATE collections SET counted_at = now() - interval '8 days'`);
    await until(async () => {
      await countCollections(bed.database);
      const left = `SELECT 1 FROM collections WHERE counted_at < now() - interval '7 days'`;
      return (await bed.database.query(left)).length === 0;
    });
    expect(await shown(identity)).toMatchObject({ sizeBytes: sums.total, total: sums.total });

    const rest = MB - sums.total - '{"text": ""}'.length;
    await call(identity, 'POST', '', { data: { text: 'z'.repeat(rest) } });
    expect(await share(ids[2] ?? '', { userId: uuidv7(), may: 'read' })).toMatchObject(
      quotaReached,
    );
    expect(await share(ids[2] ?? '', { email: 'a@example.com', may: 'read' })).toMatchObject(
      quotaReached,
    );
    expect((await share(ids[2] ?? '', { userId: users[0], may: 'read' })).status).toBe(200);
    await unshare(ids[2] ?? '', users[0] ?? '');
    expect((await share(ids[2] ?? '', { userId: uuidv7(), may: 'read' })).status).toBe(200);
    expect((await stored(identity)).total).toBe(MB);
  });

  it('is bounded by the quota, whatever is written and in whatever way', async () => {
    const identity = newProject();
    await put(identity, { search: true });
    await untilIs(identity, 'ready');
    const data = (i: number) => ({ text: words(i, 500) });
    const ids: string[] = [];
    let refused: object | undefined;
    for (let i = 0; !refused && i < 500; i++) {
      const answer = await call(identity, 'POST', '', { data: data(i) });
      if (answer.status === 201) ids.push(answer.body.id);
      else refused = answer;
    }
    expect(refused).toMatchObject(quotaReached);
    while ((await call(identity, 'POST', '', { data: { text: 'x' } })).status === 201);
    const full = await stored(identity);
    expect(full.words).toBeGreaterThan(full.records);
    expect(full.total).toBeLessThanOrEqual(MB);
    expect(full.total).toBeGreaterThan(MB - 3000);

    const [id = '', other = ''] = ids;
    const { length } = (await call(identity, 'GET', `/${id}`)).body.text;
    const short = Array.from({ length: 5000 }, (_, i) => i.toString(36)).join(' ');
    const moreWords = { text: short.slice(0, length) };
    const change = (data: object) => [
      () => call(identity, 'PUT', `/${id}`, { data }),
      () => call(identity, 'PATCH', `/${id}`, { data }),
      () => call(identity, 'POST', '/_batch', { update: [{ id, data }] }),
    ];
    for (const grow of change(moreWords)) expect(await grow()).toMatchObject(quotaReached);
    for (const keep of change({ text: 'y'.repeat(length) }))
      expect((await keep()).status).toBe(200);
    // What it has freed can be used.
    const small = { text: moreWords.text.slice(0, length / 2) };
    expect((await call(identity, 'PATCH', `/${id}`, { data: small })).status).toBe(200);
    expect((await stored(identity)).total).toBeLessThanOrEqual(MB);
    expect((await call(identity, 'DELETE', `/${other}`)).status).toBe(200);
    expect((await call(identity, 'POST', '', { data: { text: 'x' } })).status).toBe(201);
  });

  it('is not built beyond the quota, and built once there is room', async () => {
    const identity = newProject();
    const data = (i: number) => ({ text: words(i, 2000), n: i });
    const made: string[] = [];
    for (let i = 0; i < 60; i++)
      made.push((await call(identity, 'POST', '', { data: data(i) })).body.id);
    expect((await stored(identity)).total).toBeLessThan(MB);
    await put(identity, { search: true });
    await untilIs(identity, 'failed');
    expect(await call(identity, 'GET', '?search=w')).toMatchObject({ status: 400 });
    await until(async () => (await stored(identity)).words === 0);
    expect((await shown(identity)).total).toBe((await stored(identity)).total);
    for (const id of made.slice(5)) await call(identity, 'DELETE', `/${id}`);
    await put(identity, { search: true });
    await untilIs(identity, 'ready');
    expect((await call(identity, 'GET', '/_count?search=w')).body.count).toBe(5);

    await put(identity, { search: false });
    const rest = MB - (await stored(identity)).total;
    await call(identity, 'POST', '', { data: { text: 'z'.repeat(rest - 20) } });
    await until(async () => (await stored(identity)).words === 0);
    const last = MB - (await stored(identity)).total - '{"text": ""}'.length;
    const filled = await call(identity, 'POST', '', { data: { text: 'z'.repeat(last) } });
    expect([filled.status, (await stored(identity)).total]).toEqual([201, MB]);
    await put(identity, { unique: ['n'] });
    await untilIs(identity, 'failed');
    expect((await shown(identity)).unique).toEqual([{ field: 'n', state: 'failed' }]);
  });
});
