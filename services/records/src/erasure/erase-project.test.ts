import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { eraseProject } from './erase-project.ts';

describe('the erasure of a project', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('leaves nothing of it, and everything of the others', async () => {
    const { database } = bed;
    await database.query(
      `INSERT INTO collections (project_id, coll_id, name, access, created_at)
       SELECT project, coll, 'c' || coll, 'shared', now()
       FROM generate_series(5, 6) project, generate_series(1, 3) coll`,
    );
    await database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT 5 + n % 2, 1 + n % 3, uuidv7(), now(), now(), '{}' FROM generate_series(1, 9000) n`,
    );
    await database.query(
      `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at)
       SELECT project, 1, 1, 'a', 'ready', true, now() FROM generate_series(5, 6) project`,
    );
    await database.query(
      `INSERT INTO unique_fields (project_id, coll_id, number, field, state)
       SELECT project, 1, 2, 'a', 'ready' FROM generate_series(5, 6) project`,
    );
    await database.query(
      `INSERT INTO unique_values (project_id, coll_id, number, key, record_id)
       SELECT 5 + n % 2, 1 + n % 3, 2 + n % 5, sha256(n::text::bytea), uuidv7() FROM generate_series(1, 9000) n`,
    );
    await database.query(
      `INSERT INTO searches (project_id, coll_id, number, state)
       SELECT project, 1, 3, 'ready' FROM generate_series(5, 6) project`,
    );
    await database.query(
      `INSERT INTO search_texts (project_id, coll_id, number, record_id, words)
       SELECT 5 + n % 2, 1 + n % 3, 3, uuidv7(), 'a' FROM generate_series(1, 9000) n`,
    );
    for (const _ of ['once', 'again']) {
      await eraseProject(database, 5);
      const left = await database.query(
        `SELECT project_id AS project, count(*) AS records,
           (SELECT count(*) FROM collections) AS collections,
           (SELECT count(*) FROM slots) AS slots, (SELECT count(*) FROM unique_fields) AS fields,
           (SELECT count(*) FROM unique_values) AS values, (SELECT count(*) FROM searches) AS searches,
           (SELECT count(*) FROM search_texts) AS texts FROM records GROUP BY 1`,
      );
      expect(left).toEqual([
        {
          project: 6,
          records: 4500,
          collections: 3,
          slots: 1,
          fields: 1,
          values: 4500,
          searches: 1,
          texts: 4500,
        },
      ]);
    }
  });
});
