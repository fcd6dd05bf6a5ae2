import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import type { Collection } from '../collections/collections.ts';
import type { CursorPosition } from '../query/cursor.ts';
import {
  conditions,
  documents,
  filters,
  paths,
  positionPaths,
  scalar,
} from '../testing/arbitrary-filters.ts';
import { readItems } from '../testing/read-items.ts';
import { atOnce, createScanBed, type ScanBed, type ScanQuery } from '../testing/scan-bed.ts';
import type { ListPage } from './lists.ts';
import type { PieceBounds } from './walk-pieces.ts';

const long = 'é'.repeat(600);
const values = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom(long, `${long}a`, `${long}b`, [], [1], {}) },
);
const records = fc.tuple(documents(false), fc.record({ d: values }), fc.record({ n: fc.nat(3) }));
const collections = fc.array(
  records.map((parts) => Object.assign({}, ...parts) as Record<string, unknown>),
  { minLength: 1, maxLength: 16 },
);
const sorts = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.constantFrom('d', 'n', 'a.b', 'ownerId', 'updatedAt', 'id'),
      )
      .map((parts) => parts.join('')),
    { minLength: 1, maxLength: 3 },
  )
  .map((fields) => fields.join(','));
const wheres = fc.oneof(
  fc.constantFrom<object[]>({}, { n: { $gt: 0 } }, { n: { $lt: 3 } }),
  filters(conditions(fc.oneof(paths, positionPaths, fc.constant('d')), scalar, { sizes: true })),
);
const queries: fc.Arbitrary<ScanQuery> = fc.record({
  where: wheres,
  sort: fc.oneof(fc.constantFrom('id', '-id'), sorts),
  limit: fc.integer({ min: 2, max: 6 }),
  offset: fc.constantFrom(0, 0, 1, 5),
  who: fc.constantFrom('key', 'ada', 'anonymous'),
  isMine: fc.boolean(),
});
/** Pieces that have few rows, and pieces whose time is over at once. */
const bounds = fc.constantFrom(
  { firstRows: 1, mostRows: 1, pieceMs: 1000, workMs: 60_000 },
  { firstRows: 2, mostRows: 3, pieceMs: 1000, workMs: 60_000 },
  { firstRows: 5, mostRows: 5, pieceMs: 0, workMs: 60_000 },
  { firstRows: 1, mostRows: 50, pieceMs: 0, workMs: 60_000 },
);
describe('answers in pieces', () => {
  let bed: ScanBed;
  beforeAll(async () => {
    bed = await createScanBed();
  });
  afterAll(() => bed.close());

  const readPages = async (collection: Collection, query: ScanQuery, pieceBounds: PieceBounds) => {
    const pages: ListPage[] = [];
    let after: CursorPosition | undefined;
    do {
      const page = await bed.readPage(collection, query, pieceBounds, after);
      pages.push(page);
      after = page.hasMore ? (page.last ?? undefined) : undefined;
      expect(after !== undefined).toBe(page.hasMore);
    } while (after);
    return pages;
  };

  it('are those of one statement, page by page, and so are counts', async () => {
    await fc.assert(
      fc.asyncProperty(
        collections,
        fc.constantFrom<Collection['access'][]>('shared', 'private'),
        fc.array(fc.tuple(queries, bounds), { minLength: 6, maxLength: 6 }),
        async (contents, access, tries) => {
          const { collection } = await bed.fill(contents, access);
          for (const [query, pieceBounds] of tries) {
            if (access === 'private' && query.who === 'anonymous') continue;
            const expected = await readPages(collection, query, atOnce);
            expect(await readPages(collection, query, pieceBounds)).toEqual(expected);
            const total = await bed.count(collection, query, atOnce);
            expect(await bed.count(collection, query, pieceBounds)).toEqual(total);
            expect(total).not.toHaveProperty('approximate');
          }
        },
      ),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('neither lose nor double what stays as it is, nor show what fits no more, while others change', async () => {
    const changes = fc.array(
      fc.record({
        i: fc.nat(50),
        n: fc.nat(9),
        kind: fc.constantFrom('change', 'delete', 'insert'),
      }),
      { minLength: 40, maxLength: 40 },
    );
    const sort = fc.constantFrom('n', '-n', 'd,n', '-d', 'id', '-id');
    await fc.assert(
      fc.asyncProperty(
        collections,
        bounds,
        changes,
        sort,
        fc.integer({ min: 1, max: 4 }),
        async (contents, pieceBounds, todo, sort, limit) => {
          // A cursor with a long key stands by its record, which has to stay as it is, or its key's beginning.
          const { collection, ids } = await bed.fill(
            contents.map((content, i) => (i % 2 === 1 ? { ...content, d: i } : content)),
          );
          /** Every other record changes. */
          const restless = ids.filter((_, i) => i % 2 === 1);
          const where = { n: { $lte: 2 } };
          const query = { where, sort, limit, offset: 0, who: 'key', isMine: false } as const;
          const all = await bed.readPage(collection, { ...query, limit: 100 }, atOnce);
          const steady = (await readItems<{ id: string }>(all))
            .map(({ id }) => id)
            .filter((id) => !restless.includes(id));
          const inserted = new V7Generator();
          bed.scans.before = async () => {
            const { i, n, kind } = todo.pop() ?? { i: 0, n: 0, kind: 'none' };
            const id = restless[i % Math.max(1, restless.length)];
            const own = `project_id = 1 AND coll_id = ${collection.id}`;
            if (kind === 'insert') {
              const fresh = inserted.generateOrResetWithTs(Date.now() + i - 25).toString();
              restless.push(fresh);
              await bed.database.query(
                `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
                 VALUES (1, $1, $2, now(), now(), $3)`,
                [collection.id, fresh, JSON.stringify({ n: n % 4, d: n })],
              );
            } else if (kind === 'delete') {
              await bed.database.query(`DELETE FROM records WHERE ${own} AND id = $1`, [id]);
            } else if (kind === 'change') {
              await bed.database.query(`UPDATE records SET data = $2 WHERE ${own} AND id = $1`, [
                id,
                JSON.stringify({ n: n % 4, d: `${n}${long}` }),
              ]);
            }
          };
          const seen: string[] = [];
          let after: CursorPosition | undefined;
          do {
            const page = await bed.readPage(collection, query, pieceBounds, after);
            const items = await readItems<{ id: string }>(page);
            expect(items.length).toBeLessThanOrEqual(limit);
            seen.push(...items.map(({ id }) => id));
            const present = await bed.database.query<{ id: string }>(
              `SELECT id FROM records WHERE project_id = 1 AND coll_id = $1 AND (data -> 'n')::int <= 2`,
              [collection.id],
            );
            expect(present.map(({ id }) => id)).toEqual(
              expect.arrayContaining(items.map(({ id }) => id)),
            );
            after = page.hasMore ? (page.last ?? undefined) : undefined;
            expect(after !== undefined).toBe(page.hasMore);
          } while (after);
          bed.scans.before = async () => {};
          expect(seen.filter((id) => steady.includes(id))).toEqual(steady);
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
