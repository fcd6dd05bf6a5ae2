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
