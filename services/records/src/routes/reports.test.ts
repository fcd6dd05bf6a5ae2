import { randomUUID } from 'node:crypto';
import { reportRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, asUser, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const project = { ...testProject, powers: { staff: ['block-users'], guide: ['see-users'] } };
const asStaff = asUser(bob, { role: 'staff', project });
const unknownId = '018f0000-0000-7000-8000-000000000001';
const userNumber = (n: number) => asUser(`018f0000-0000-7000-8000-00000000${0x1000 + n}`);
const hourMs = 3_600_000;

describe('reports', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await bed.database.query('DELETE FROM reports');
    ({ id } = await bed.create('posts', { title: 'Buy pills' }, asUser(ada)));
  });

  refusesStrangers(
    reportRoutes.reportRecord,
    () => bed.http,
    () => ({ path: `/db/posts/${id}/_report`, body: { reason: 'Spam' } }),
  );
  refusesStrangers(
    reportRoutes.listReports,
    () => bed.http,
    () => ({ path: '/db/posts/_reports' }),
  );
  refusesStrangers(
    reportRoutes.dismissReports,
    () => bed.http,
    () => ({ path: `/db/posts/${id}/_report` }),
  );

  const report = (identity: Identity, reason: unknown = 'Spam', path = `posts/${id}`) =>
    bed.call('POST', `/db/${path}/_report`, { identity, body: { reason } });
  const list = (identity: Identity, query = '') =>
    bed.call('GET', `/db/posts/_reports${query}`, { identity });
  const dismiss = (identity: Identity, recordId = id) =>
    bed.call('DELETE', `/db/posts/${recordId}/_report`, { identity });
  const items = async () => (await list(asOwner())).body.items;

  it('are one a record and user, shown with whose record it is to who moderates', async () => {
    for (const reason of ['Spam', 'Spam for pills'])
      expect(await report(asUser(bob), reason)).toMatchObject({ status: 201, body: { ok: true } });
    const shown = [{ recordId: id, ownerId: ada, userId: bob, reason: 'Spam for pills' }];
    for (const identity of [asOwner(), asKey(), asStaff])
      expect((await list(identity)).body).toMatchObject({ items: shown, hasMore: false });
    for (const identity of [asUser(bob), asUser(bob, { role: 'guide', project })]) {
      for (const { status, body } of [await list(identity), await dismiss(identity)]) {
        expect([status, body.code]).toEqual([403, 'forbidden']);
        expect(body.hint).toContain('{"may": ["block-users"]}');
      }
    }
    expect((await dismiss(asStaff)).status).toBe(200);
    expect(await items()).toEqual([]);
    expect((await dismiss(asStaff)).status).toBe(404);
  });

  it('are made of what the reporter can read, and of nothing else', async () => {
    const access = { read: ['owner'], create: ['users'], change: ['owner'] };
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/letters`, {
      identity: asOwner(),
      body: { access },
    });
    const letter = await bed.create('letters', { text: 'Dear' }, asUser(ada));
    const unread = [
      `letters/${letter.id}`,
      `posts/${unknownId}`,
      'posts/nonsense',
      `nothing/${id}`,
    ];
    for (const path of unread)
      expect(await report(asUser(bob), 'Spam', path)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    expect((await report(asUser(ada), 'Mine', `letters/${letter.id}`)).status).toBe(201);
    expect(await items()).toEqual([]);
  });

  it.each([undefined, '', ' \n\u200b', 'x'.repeat(1001), 'a\0b', 7, { a: 1 }])(
    'refuse the reason %j',
    async (reason) => {
      const body = reason === undefined ? {} : { reason };
      const path = `/db/posts/${id}/_report`;
      expect(await bed.call('POST', path, { identity: asUser(bob), body })).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
    },
  );

  it('are at most 20 an hour of a user, also where all come at once', async () => {
    const records = await Promise.all(
      Array.from({ length: 24 }, () => bed.create('posts', {}, asUser(ada))),
    );
    const paths = records.map((record) => `posts/${record.id}`);
    const answers = await Promise.all(paths.map((path) => report(asUser(bob), 'Spam', path)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.find(({ status }) => status !== 201);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await report(userNumber(1))).status).toBe(201);
    bed.clock.pass(hourMs);
    expect((await report(asUser(bob))).status).toBe(201);
  });

  it('are at most 100 of a record and 10,000 of a project', async () => {
    const fill = (recordId: string, count: number) =>
      bed.database.query(
        `INSERT INTO reports SELECT $1, (SELECT coll_id FROM collections WHERE project_id = $1 AND name = 'posts'),
           $2, uuidv7(), 'x', now() FROM generate_series(1, $3::int)`,
        [testProject.number, recordId, count],
      );
    await fill(id, 99);
    const several = await Promise.all([1, 2, 3].map((n) => report(userNumber(n))));
    expect(several.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    await fill(unknownId, 9_899);
    const other = await bed.create('posts', {}, asUser(ada));
    const more = () => report(userNumber(4), 'Spam', `posts/${other.id}`);
    expect((await more()).status).toBe(201);
    const another = await bed.create('posts', {}, asUser(ada));
    const full = await report(userNumber(4), 'Spam', `posts/${another.id}`);
    expect(full).toMatchObject({ status: 403, body: { code: 'quota_reached' } });
    expect((await more()).status).toBe(201);
  });

  it('are listed page by page, newest first', async () => {
    for (let n = 0; n < 5; n++) {
      bed.clock.pass(1000);
      await report(userNumber(n), `reason ${n}`);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list(asOwner(), `?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...body.items.map(({ reason }: { reason: string }) => reason));
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).toEqual([4, 3, 2, 1, 0].map((n) => `reason ${n}`));
    expect((await list(asOwner(), '?cursor=made-up')).status).toBe(400);
    expect((await list(asOwner(), '?limit=0')).body.items).toEqual([]);
  });

  it('go with their record, their reporter and their collection', async () => {
    const count = async () => (await bed.database.query('SELECT FROM reports')).length;
    await report(asUser(bob));
    await report(userNumber(1));
    const { id: projectId, number: projectNumber } = testProject;
    const payload = { projectId, projectNumber, userId: bob, email: 'bob@example.org' };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.erased', payload });
    await until(async () => (await count()) === 1);
    await bed.call('DELETE', `/db/posts/${id}`, { identity: asUser(ada) });
    expect(await items()).toEqual([]);
    const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
    expect((await list(elsewhere)).body.items).toEqual([]);
  });
});
