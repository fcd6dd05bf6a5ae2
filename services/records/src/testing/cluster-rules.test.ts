import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordsService } from '../service.ts';
import { type Catalog, clusterProblems, readCatalog } from './cluster-rules.ts';
import { createTestBed, type TestBed } from './test-bed.ts';

let bed: TestBed;
let catalog: Catalog;
beforeAll(async () => {
  bed = await createTestBed();
  catalog = await readCatalog(bed.ownerDatabase);
});
afterAll(() => bed.close());

describe('what a Citus cluster asks of a statement', () => {
  const withoutProject = 'is read without its own project_id = $n';
  it.each([
    ['SELECT data FROM records WHERE project_id = $1 AND id = $2', []],
    ['SELECT data FROM records WHERE project_id = $1::int8', []],
    ['SELECT now()', []],
    ['SELECT data FROM records WHERE id = $1', [`"records" ${withoutProject}`]],
    ['SELECT data FROM records WHERE project_id = 5', [`"records" ${withoutProject}`]],
    ['SELECT 1 FROM records WHERE project_id = $1 OR id = $2', [`"records" ${withoutProject}`]],
    [
      'SELECT 1 FROM collections c JOIN records r USING (project_id) WHERE c.project_id = $1',
      [`"r" ${withoutProject}`],
    ],
    ['SELECT 1 FROM collections c JOIN records r ON r.project_id = $1 WHERE c.project_id = $1', []],
    [
      'SELECT (SELECT count(*) FROM records r WHERE r.project_id = c.project_id) FROM collections c WHERE c.project_id = $1',
      [`"r" ${withoutProject}`],
    ],
    [
      'SELECT 1 FROM shares WHERE project_id = $1 UNION ALL SELECT 1 FROM shares',
      [`"shares" ${withoutProject}`],
    ],
    ['WITH records AS (SELECT 1) SELECT * FROM records', []],
    ['DELETE FROM records WHERE id = $1', [`"records" ${withoutProject}`]],
    ['/* across projects */ SELECT count(*) FROM records', []],
    ['INSERT INTO count_delta (project_id, coll_id, d) VALUES ($1, $2, 1)', []],
    ['INSERT INTO count_delta (project_id, coll_id, d) SELECT $1, coll_id, d FROM made', []],
    [
      'INSERT INTO count_delta (coll_id, project_id, d) SELECT $1, project_id, d FROM made',
      ['a row of "count_delta" is made without project_id = $n'],
    ],
    [
      `WITH changed AS (DELETE FROM records WHERE project_id = $1 RETURNING id), counted AS (
         INSERT INTO count_delta (project_id, coll_id, d) SELECT c.project_id, c.coll_id, -1 FROM collections c, changed WHERE c.project_id = $1) SELECT 1`,
      [],
    ],
    [
      `WITH made AS (SELECT 1), counted AS (
         INSERT INTO count_delta (project_id, coll_id, d) SELECT made.project_id, $1, 1 FROM made) SELECT 1`,
      ['a row of "count_delta" is made without project_id = $n'],
    ],
    [
      `WITH made AS (SELECT 1), counted AS (
         INSERT INTO count_delta (project_id, coll_id, d) SELECT $1, $2, 1 FROM made) SELECT 1`,
      ['rows of "count_delta" take the project from no table, which asks all nodes'],
    ],
    [
      'WITH made AS (SELECT 1) INSERT INTO count_delta (project_id, coll_id, d) SELECT c.project_id, c.coll_id, 1 FROM collections c, made WHERE c.project_id = $1',
      [
        'the rest of WITH goes to the node of "count_delta" too, which must not change other tables',
      ],
    ],
    [
      'WITH made AS (SELECT 1) INSERT INTO count_delta (project_id, coll_id, d) SELECT $1, $2, 1 FROM made',
      [],
    ],
    [
      `INSERT INTO slots (project_id, uses) SELECT $1, $2 ON CONFLICT (project_id) DO UPDATE SET uses = $3`,
      ['what ON CONFLICT does to "slots" has a parameter, beside a SELECT'],
    ],
    [
      'INSERT INTO slots (project_id, uses) VALUES ($1, $2) ON CONFLICT (project_id) DO UPDATE SET uses = $3',
      [],
    ],
    [
      `WITH free AS (SELECT id FROM records WHERE project_id = $1 FOR UPDATE SKIP LOCKED), changed AS (
         UPDATE records SET data = $2 FROM free WHERE project_id = $1 AND records.id = free.id RETURNING records.id) SELECT * FROM changed`,
      ['"free" locks rows outside the part of WITH that changes them'],
    ],
    [
      `WITH changed AS (WITH free AS (SELECT id FROM records WHERE project_id = $1 FOR UPDATE SKIP LOCKED)
         UPDATE records SET data = $2 FROM free WHERE project_id = $1 AND records.id = free.id RETURNING records.id) SELECT * FROM changed`,
      [],
    ],
    [
      'WITH free AS (SELECT id FROM records WHERE project_id = $1 FOR UPDATE) SELECT * FROM free',
      [],
    ],
    [
      `UPDATE records SET updated_at = updated_at + interval '1 ms' WHERE project_id = $1`,
      ['a sum with a timestamptz is not IMMUTABLE'],
    ],
    [
      'UPDATE records SET data = to_jsonb($2::int) WHERE project_id = $1',
      ['to_jsonb() is not IMMUTABLE'],
    ],
    [
      `DELETE FROM records WHERE project_id = $1 RETURNING to_char(created_at, 'YYYY')`,
      ['to_char() is not IMMUTABLE'],
    ],
    [
      `UPDATE records SET data = $2 WHERE project_id = $1 RETURNING 'r' || id`,
      ['RETURNING joins texts'],
    ],
    [
      'SELECT sort_key(data) FROM records WHERE project_id = $1',
      ['sort_key() is called without its schema'],
    ],
    ['SELECT records.sort_key(data) FROM records WHERE project_id = $1', []],
  ])('%s', async (text, problems) => {
    expect(await clusterProblems(text, catalog)).toEqual(problems);
  });
});

describe('what a Citus cluster asks of the tables', () => {
  const query = <Row>(text: string) =>
    bed.ownerDatabase.query<Row>(text, [recordsService.distributed]);
  const spread = `c.relnamespace = 'records'::regnamespace AND c.relname = ANY ($1)`;

  it('every table of a project is spread, but for its owner, which is read the other way round', async () => {
    const left = await query(
      `SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'records'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         AND a.attname = 'project_id' AND NOT c.relname = ANY ($1)`,
    );
    expect(left).toEqual([{ relname: 'project_owners' }]);
    const there = await query(`SELECT FROM pg_class c WHERE ${spread}`);
    expect(there).toHaveLength(recordsService.distributed?.length ?? 0);
  });

  it('every key of theirs holds the project', async () => {
    const keys = await query<{ holds: boolean }>(
      `SELECT a.attnum = ANY (i.indkey) AS holds FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
       WHERE ${spread} AND (i.indisunique OR i.indisexclusion)
       UNION ALL
       SELECT a.attnum = ANY (k.conkey) FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
       WHERE ${spread} AND k.contype = 'f'`,
    );
    expect(keys.length).toBeGreaterThanOrEqual(3);
    expect(keys.filter(({ holds }) => !holds)).toEqual([]);
  });

  it('they have no triggers', async () => {
    const triggers = await query(
      `SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE ${spread} AND NOT t.tgisinternal AND NOT starts_with(t.tgname, 'truncate_trigger_')`,
    );
    expect(triggers).toEqual([]);
  });

  it('migrations spread them where the database is a cluster, all of a project to one node', async () => {
    const places = bed.isCluster
      ? await query<{ relname: string; groups: number }>(
          `SELECT c.relname, min(d.colocationid) OVER () = max(d.colocationid) OVER () AS "isTogether"
           FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid WHERE ${spread}`,
        )
      : [];
    const expected = bed.isCluster ? (recordsService.distributed ?? []) : [];
    expect(places).toHaveLength(expected.length);
    for (const relname of expected) expect(places).toContainEqual({ relname, isTogether: true });
  });
});
