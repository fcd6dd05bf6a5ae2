import type { Identity } from '@backlot/identity';
import { anonymous, asOwner, asUser, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;

describe('one value that many claim', () => {
  let bed: TestBed;
  let statements: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed({}, {}, { onStatement: (text) => statements.push(text) });
  });
  afterAll(() => bed.close());

  const call = (method: string, at: string, body?: object, identity: Identity = anonymous()) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const setUp = async (collection: string, access = 'shared') => {
    const body = { unique: ['code'], access };
    await bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body });
    await until(async () => {
      const { items } = (await bed.call('GET', path, { identity: asOwner() })).body;
      const shown = items.find(({ name }: { name: string }) => name === collection);
      return shown.unique[0].state === 'ready';
    });
  };
  const many = <T>(count: number, work: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => work(n)));
  const statuses = async (answers: Promise<{ status: number }[]>) =>
    (await answers).map(({ status }) => status).sort();
  const claimsSent = () =>
    statements.filter((text) => /INSERT INTO unique_values/.test(text)).length;
  const refusals = (count: number) => Array.from({ length: count }, () => 409);

  it('is written once, by whatever way they come, and the others read', async () => {
    await setUp('codes');
    const records = await many(30, (n) => bed.create('codes', { n }));
    const ways: ((n: number) => ReturnType<typeof call>)[] = [
      () => call('POST', 'codes', { data: { code: 'a' } }),
      () => call('PUT', `codes/${uuidv7()}?upsert=1`, { data: { code: 'a' } }),
      (n) => call('PATCH', `codes/${records[n]?.id}`, { data: { code: 'a' } }),
      (n) => call('PUT', `codes/${records[n + 15]?.id}`, { data: { code: 'a', n } }),
    ];
    statements = [];
    const seen = await statuses(
      Promise.all(ways.flatMap((way) => Array.from({ length: 15 }, (_, n) => way(n)))),
    );
    expect(seen.filter((status) => status < 300)).toHaveLength(1);
    expect(seen.slice(1)).toEqual(refusals(59));
    expect(claimsSent()).toBe(1);
    statements = [];
    expect(await statuses(many(30, () => call('POST', 'codes', { data: { code: 'a' } })))).toEqual(
      refusals(30),
    );
    expect(claimsSent()).toBe(0);
  });

  it('is free again with the record that had it, however often it was refused just now', async () => {
    await setUp('freed');
    for (let round = 0; round < 3; round++) {
      const { id } = await bed.create('freed', { code: { deep: [round] } });
      const again = () => call('POST', 'freed', { data: { code: { deep: [round] } } });
      expect(await statuses(many(5, again))).toEqual(refusals(5));
      const taken = { data: { code: { deep: [round] } } };
      expect((await call('PATCH', `freed/${id}`, taken)).status).toBe(200);
      expect((await call('PUT', `freed/${id}?upsert=1`, taken)).status).toBe(200);
      const swap = { create: [taken], delete: [id] };
      expect((await call('POST', 'freed/_batch', swap)).status).toBe(200);
      expect((await again()).status).toBe(409);
      const [{ id: made } = { id: '' }] = (await call('GET', 'freed?limit=1')).body.items;
      expect((await call('DELETE', `freed/${made}`)).status).toBe(200);
      expect((await again()).status).toBe(201);
      const [{ id: last } = { id: '' }] = (await call('GET', 'freed?limit=1')).body.items;
      await call('PATCH', `freed/${last}`, { unset: ['code'] });
    }
  });

  it('is waited for on one connection, and a stranger’s record is made meanwhile', async () => {
    await setUp('held');
    const { ownerDatabase } = bed;
    const answers = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query(
        `INSERT INTO unique_values
         SELECT project_id, coll_id, number, unique_key('"a"'), uuidv7() FROM unique_fields JOIN collections USING (project_id, coll_id)
         WHERE name = 'held'`,
      );
      const all = many(12, () => call('POST', 'held', { data: { code: 'a' } }));
      await until(async () => (await countLockWaits(bed.databaseUrl)) > 0);
      for (let n = 0; n < 2; n++) {
        expect(await countLockWaits(bed.databaseUrl)).toBeLessThanOrEqual(1);
        expect((await call('POST', 'held', { data: { code: n } }, asUser(bob))).status).toBe(201);
      }
      return { all };
    });
    // Who has waited for as long as a statement may take is 503.
    for (const status of await statuses(answers.all)) expect([409, 503]).toContain(status);
  });

  it('tells who may not change a record no more than before', async () => {
    await setUp('rights', 'private');
    const code = { data: { code: 'a' } };
    await bed.create('rights', { code: 'a' }, asUser(ada));
    const mine = await bed.create('rights', {}, asUser(ada));
    for (let n = 0; n < 3; n++) {
      expect((await call('POST', 'rights', code, asUser(bob))).status).toBe(409);
      expect((await call('PATCH', `rights/${mine.id}`, code, asUser(bob))).status).toBe(404);
      expect((await call('PUT', `rights/${mine.id}`, code, asUser(bob))).status).toBe(404);
      expect((await call('PATCH', `rights/${mine.id}`, code, asUser(ada))).status).toBe(409);
    }
  });

  it('is no longer refused once its field is not unique, in a process that has not heard of it', async () => {
    await setUp('late');
    const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
    await bed.create('late', { code: 'a' });
    const create = () =>
      other.call('POST', '/db/late', { identity: anonymous(), body: { data: { code: 'a' } } });
    for (let n = 0; n < 3; n++) expect((await create()).status).toBe(409);
    const none = { identity: asOwner(), body: { unique: [] } };
    await bed.call('PUT', `${path}/late`, none);
    expect((await create()).status).toBe(201);
    await other.close();
  });
});
