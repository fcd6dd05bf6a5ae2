import { halfOfCores } from '@backlot/fair-shares';
import { asUser, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const data = { text: 'x'.repeat(100_000) };

/** A user of the project of an owner of its own. */
const userOfOwner = (n: number) =>
  asUser(ada, { project: { ...testProject, id: `project-${n}`, number: 2000 + n, ownerId: null } });

describe('large writes', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it.each([
    ['as JSON.stringify writes it', JSON.stringify],
    ['with spaces', (body: unknown) => JSON.stringify(body, null, 2)],
  ])('are answered whole, and stored: %s', async (name, write) => {
    const identity = asUser(ada);
    const send = async (method: string, path: string, data: object, key = '') => {
      const headers = key === '' ? {} : { 'idempotency-key': key };
      const answer = await bed.call(method, path, { identity, body: write({ data }), headers });
      const { id, ownerId, createdAt, updatedAt, ...kept } = answer.body;
      expect(kept).toEqual(data);
      expect((await bed.call('GET', `/db/notes/${id}`, { identity })).body).toEqual(answer.body);
      return `/db/notes/${id}`;
    };
    const text = `"quoted"\n${'ä😀'.repeat(50_000)}`;
    const path = await send('POST', '/db/notes', { text, n: 1 });
    await send('PUT', path, { text, n: 2 });
    await send('PATCH', path, { n: 3, text });
    const key = `key-${name}`;
    expect(await send('POST', '/db/notes', { text }, key)).toBe(
      await send('POST', '/db/notes', { text }, key),
    );
  });

  it('that wait for a record hold up nobody else’s', async () => {
    const owners = Array.from({ length: Math.min(halfOfCores, 4) }, (_, n) => userOfOwner(n));
    const paths: string[] = [];
    for (const identity of owners)
      paths.push(`/db/notes/${(await bed.create('notes', {}, identity)).id}`);
    const changes = await bed.database.transaction(async () => {
      for (const { project } of owners)
        await bed.database.query('SELECT FROM records WHERE project_id = $1 FOR UPDATE', [
          project.number,
        ]);
      const waiting = owners.map((identity, n) =>
        bed.call('PATCH', paths[n] ?? '', { identity, body: { data } }),
      );
      await until(async () => (await countLockWaits(bed.databaseUrl)) === owners.length);
      const created = await bed.call('POST', '/db/notes', {
        identity: asUser(bob),
        body: { data },
      });
      expect(created.status).toBe(201);
      return waiting;
    });
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
  });
});
