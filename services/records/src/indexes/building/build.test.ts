import { asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';

describe('what is filled in beside the records', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it.each([
    ['unique_fields', "field) VALUES ($1, $2, $3, 'building', 'code')"],
    ['searches', "fields) VALUES ($1, $2, $3, 'building', NULL)"],
  ])('%s: does not wait for who sets the collection', async (table, rest) => {
    await bed.create(table, { code: 1 });
    const [collection] = await bed.database.query<{ coll_id: number }>(
      'SELECT coll_id FROM collections WHERE project_id = $1 AND name = $2',
      [testProject.number, table],
    );
    const key = [testProject.number, collection?.coll_id];
    const isReady = async () => {
      const path = `/platform/projects/${testProject.id}/collections`;
      const { items } = (await bed.call('GET', path, { identity: asOwner() })).body;
      const shown = items.find(({ name }: { name: string }) => name === table);
      return (shown.unique[0] ?? shown.search)?.state === 'ready';
    };
    await bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query(
        'SELECT FROM collections WHERE project_id = $1 AND coll_id = $2 FOR NO KEY UPDATE',
        key,
      );
      await bed.database.query(
        `INSERT INTO ${table} (project_id, coll_id, number, state, ${rest}`,
        [...key, 2],
      );
      await until(isReady);
    });
  });
});
