import { type Database, StatementTimeout } from '@backlot/database';
import { asKey, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fullAccess } from '../collections/access.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { type Sampled, sampleRecords, shapeBounds } from './sample.ts';

const count = 3000;
/** Compressed it fills pages all the same. */
const noise = (n: number) =>
  Array.from({ length: 200 }, (_, part) => Math.sin(n * 1000 + part).toString(36)).join(' ');

describe('the sample of a collection of large records', () => {
  let bed: TestBed;
  let sampled: Sampled;
  beforeAll(async () => {
    bed = await createTestBed();
    for (let at = 0; at < count; at += 500) {
      const create = Array.from({ length: 500 }, (_, n) => ({ data: { text: noise(at + n) } }));
      const answer = await bed.call('POST', '/db/large/_batch', {
        identity: asKey(),
        body: { create },
      });
      expect(answer.status).toBe(200);
    }
    await bed.ownerDatabase.query('VACUUM ANALYZE records');
    const [row] = await bed.database.query<{ id: number }>(
      'SELECT coll_id AS id FROM records WHERE project_id = $1 LIMIT 1',
      [testProject.number],
    );
    if (!row) throw new Error('nothing was written');
    const collection = { projectNumber: testProject.number, id: row.id };
    sampled = { collection, access: fullAccess('shared') };
  }, 300_000);
  afterAll(() => bed.close());
  const sample = (database: Database) =>
    sampleRecords(database, sampled, shapeBounds, async () => {});

  it('reads no other records than it looks at, however many there are', async () => {
    const [before, after, found] = await bed.database.transaction(async () => {
      const rows = async () => {
        const [row] = await bed.database.query<{ read: number }>(
          `SELECT sum(idx_tup_fetch + seq_tup_read)::int AS read FROM pg_stat_xact_user_tables
            WHERE relname = 'records'`,
        );
        return row?.read ?? 0;
      };
      const first = await rows();
      const documents = await sample(bed.database);
      return [first, await rows(), documents.length];
    });
    expect(found).toBeGreaterThan(100);
    const halves = 2;
    const looksAtEach = 3;
    expect(after - before).toBeLessThanOrEqual(halves * looksAtEach * shapeBounds.records + 10);
  });

  it.each([
    ['fewer of the newest', 0, 25],
    ['the newest alone', 2, shapeBounds.records],
  ])('has %s where the database does not read all of them in time', async (_what, late, most) => {
    let scans = 0;
    const busy: Database = {
      ...bed.database,
      async scan(text, values) {
        if (scans++ === late) throw new StatementTimeout();
        return bed.database.scan(text, values);
      },
    };
    const hurried = await sample(busy);
    expect(hurried.length).toBeGreaterThan(0);
    const older = late === 0 ? shapeBounds.records : 0;
    expect(hurried.length).toBeLessThanOrEqual(most + older);
    if (late === 0) expect(hurried.length).toBeLessThan((await sample(bed.database)).length);
  });
});
