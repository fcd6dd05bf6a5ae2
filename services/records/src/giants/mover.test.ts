import { once } from 'node:events';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { V7Generator } from 'uuidv7';
import { foldTotals } from '../record/quota/totals.ts';
import { getInTime } from '../testing/get-in-time.ts';
import { createMoves, type Moves } from '../testing/moves.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { deleteBatch } from './copy.ts';

const atOnce = 500;
const identity = asKey();
const ids = new V7Generator();
type Data = Record<string, unknown>;

let bed: TestBed;
/** A process that hears of nothing: it knows what it has read itself. */
let other: TestBed;
let moves: Moves;
beforeAll(async () => {
  bed = await createTestBed();
  other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl, clock: bed.clock });
  moves = await createMoves(bed, [other]);
});
afterAll(async () => {
  await other.close();
  await bed.close();
});

const ok = async (process: TestBed, ...call: Parameters<TestBed['call']>) => {
  const { status, body } = await process.call(...call);
  if (status >= 300) throw new Error(`${call[0]} ${call[1]}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const put = (name: string, body: object) =>
  ok(bed, 'PUT', `/platform/projects/${testProject.id}/collections/${name}`, {
    ...{ identity: asOwner(), body },
  });
const list = async (process: TestBed, name: string, query: Record<string, string> = {}) => {
  const items: (Data & { id: string })[] = [];
  let cursor: string | null = null;
  do {
    const search = new URLSearchParams({ limit: '700', sort: 'id', ...query });
    if (cursor) search.set('cursor', cursor);
    const page = await getInTime(process, `/db/${name}?${search}`, identity);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor);
  return items;
};
const fill = async (name: string, count: number, data: (n: number) => Data) => {
  for (let n = 0; n < count; n += atOnce) {
    const create = Array.from({ length: Math.min(atOnce, count - n) }, (_, i) => ({
      data: data(n + i),
    }));
    await ok(bed, 'POST', `/db/${name}/_batch`, { identity: asUser(ada), body: { create } });
  }
};
const rowsIn = async (table: string, name: string) => {
  const rows = await bed.database.query<{ id: string; size_bytes: number; data: Data }>(
    `SELECT r.id, r.size_bytes, r.data FROM ${table} r JOIN collections USING (project_id, coll_id)
     WHERE name = $1 ORDER BY r.id`,
    [name],
  );
  return rows;
};
const summary = async (name: string) => {
  const { items } = await ok(bed, 'GET', `/platform/projects/${testProject.id}/collections`, {
    identity: asOwner(),
  });
  return items.find((item: { name: string }) => item.name === name);
};

/** Writes at random in both processes and knows what its records have to be. */
const createWriter = (name: string, writer: number) => {
  const model = new Map<string, Data>();
  let n = 0;
  const any = (step: number) => [...model.keys()][(n * step + writer) % Math.max(1, model.size)];
  const write = async () => {
    const process = n % 3 === 0 ? other : bed;
    const call = (method: string, path: string, body?: object) =>
      ok(process, method, `/db/${name}${path}`, { identity, ...(body && { body }) });
    n += 1;
    const data = { n, writer, deep: { list: [n] } };
    const made = await call('POST', '', { data });
    model.set(made.id, data);
    const chosen = ids.generateOrResetWithTs(bed.clock.now()).toString();
    await call('PUT', `/${chosen}?upsert=1`, { data });
    model.set(chosen, data);
    const patched = any(7) ?? made.id;
    await call('PATCH', `/${patched}`, { data: { text: `t${n}` }, inc: { n: 1 } });
    model.set(patched, {
      ...model.get(patched),
      text: `t${n}`,
      n: Number(model.get(patched)?.n) + 1,
    });
    const replaced = any(11) ?? made.id;
    await call('PUT', `/${replaced}`, { data });
    model.set(replaced, data);
    const [first, last] = [any(5), any(13)];
    if (first && last && first !== last && n % 2 === 0) {
      const batch = {
        create: [{ data }],
        update: [{ id: first, unset: ['deep'] }],
        delete: [last],
      };
      const { create } = await call('POST', '/_batch', batch);
      model.set(create[0].id, data);
      const { deep: _, ...rest } = model.get(first) ?? {};
      model.set(first, rest);
      model.delete(last);
    } else {
      await call('DELETE', `/${made.id}`);
      model.delete(made.id);
    }
  };
  return { model, write, written: () => n };
};

describe('a collection that becomes large', () => {
  it('moves to a table of its own while it is read and written, and nothing is lost or doubled', async () => {
    const name = 'big';
    await put(name, { access: 'shared', indexes: ['n', 'writer'] });
    await fill(name, 3000, (n) => ({ still: n, word: `w${n % 10}` }));
    const counter = await bed.create(name, { sum: 0 }, identity);
    const still = (await list(bed, name)).filter((item) => 'still' in item);
    await other.call('GET', `/db/${name}/${counter.id}`, { identity });

    let isOver = false;
    const writers = [0, 1, 2].map((writer) => createWriter(name, writer));
    let added = 0;
    const add = async () => {
      for (; !isOver; added++) {
        const process = added % 2 ? other : bed;
        const body = { inc: { sum: 1 } };
        await ok(process, 'PATCH', `/db/${name}/${counter.id}`, { identity, body });
        const seen = await ok(process, 'GET', `/db/${name}/${counter.id}`, { identity });
        expect(seen.sum).toBe(added + 1);
      }
    };
    const read = async () => {
      for (let n = 0; !isOver; n++) {
        const process = n % 2 ? other : bed;
        const found = await list(process, name, { where: '{"still":{"$gte":0}}' });
        expect(found.map(({ id }) => id)).toEqual(still.map(({ id }) => id));
        const where = encodeURIComponent('{"word":"w3"}');
        const count = await getInTime(process, `/db/${name}/_count?where=${where}`, identity);
        expect(count).toEqual({ count: 300 });
        const sums = await getInTime(
          process,
          `/db/${name}/_aggregate?where=${where}&sum=still`,
          identity,
        );
        expect(sums.groups[0]).toMatchObject({ count: 300 });
      }
    };
    const loops = [
      ...[add(), read()],
      ...writers.map(async ({ write }) => {
        while (!isOver) await write();
      }),
    ];
    const moving = (async () => {
      await moves.begin();
      await moves.untilMoved(name);
      const before = writers.map(({ written }) => written());
      const goOn = () => writers.every(({ written }, i) => written() > (before[i] ?? 0) + 2);
      await until(goOn, { what: 'writes after the move' });
      await moves.untilEmptied(name);
    })().finally(() => {
      isOver = true;
    });
    await Promise.all([moving, ...loops]);

    if (!moves.isCluster) expect(await rowsIn('records', name)).toEqual([]);
    const rows = await rowsIn(await moves.tableOf(name), name);
    const expected = new Map<string, Data>([
      ...still.map(({ id, still, word }): [string, Data] => [id, { still, word }]),
      [counter.id, { sum: added }],
      ...writers.flatMap(({ model }) => [...model]),
    ]);
    expect(new Map(rows.map(({ id, data }) => [id, data]))).toEqual(expected);
    expect(rows).toHaveLength(expected.size);
    for (const { model } of writers) expect(model.size).toBeGreaterThan(3);

    const sizeBytes = rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    expect(await ok(other, 'GET', `/db/${name}/_count`, { identity })).toEqual({
      count: rows.length,
    });
    expect(await summary(name)).toMatchObject({ count: rows.length, sizeBytes });
    const isFolded = async () => {
      await foldTotals(bed.database);
      return (await bed.database.query('SELECT FROM count_delta')).length === 0;
    };
    await until(isFolded, { what: 'the fold' });
    const counted = await bed.database.query(
      'SELECT row_count, byte_count FROM collections WHERE name = $1',
      [name],
    );
    expect(counted).toEqual([{ row_count: rows.length, byte_count: sizeBytes }]);
  });

  it('waits for a write that takes long, and others write meanwhile', async () => {
    const name = 'held';
    await fill(name, 2000, (n) => ({ n }));
    await moves.begin();
    await moves.untilCopied(name);
    const [key] = await bed.database.query<{ project_id: number; coll_id: number }>(
      'SELECT project_id, coll_id FROM collections WHERE name = $1',
      [name],
    );
    const ending = new AbortController();
    const held = bed.database.transaction(async () => {
      await bed.database.query('SELECT records.hold_table($1, $2)', [
        ...[key?.project_id, key?.coll_id],
      ]);
      await once(ending.signal, 'abort');
    });
    const moved = moves.untilMoved(name);
    for (let tries = 0; tries < 2; tries++) {
      await moves.untilTried();
      await bed.create(name, { tries }, identity);
      await moves.untilGivenUp();
    }
    expect(await moves.tableOf(name)).toBe('records');
    ending.abort();
    await held;
    await moved;
    expect(await rowsIn(await moves.tableOf(name), name)).toHaveLength(2002);
  });

  it('comes before the next one of an owner who has such a table, however large that is', async () => {
    if (moves.isCluster) return;
    await bed.database.query(
      `INSERT INTO project_owners (project_id, owner_id) VALUES (7001, 'many'), (7002, 'many'), (7003, 'one')`,
    );
    await bed.database.query(
      `INSERT INTO collections (project_id, coll_id, name, access, created_at, counted_at, row_count, own_table)
       VALUES (7001, 1, 'first', 'shared', now(), now(), 9000000, 'used'),
         (7002, 1, 'second', 'shared', now(), now(), 8000000, NULL),
         (7003, 1, 'other', 'shared', now(), now(), 3000000, NULL)`,
    );
    await moves.begin();
    const begun = `SELECT project_id FROM collections WHERE own_table IS NOT NULL AND project_id IN (7002, 7003)`;
    expect(await bed.database.query(begun)).toEqual([{ project_id: 7003 }]);
  });

  it('deletes the old records by their key, however little is known of the table', async () => {
    const name = 'old';
    await fill(name, 1000, (n) => ({ n }));
    const [key] = await bed.database.query<{ projectNumber: number; id: number }>(
      'SELECT project_id AS "projectNumber", coll_id AS id FROM collections WHERE name = $1',
      [name],
    );
    if (!key) throw new Error('The collection is missing.');
    const plan: string[] = [];
    const query = async (text: string, values?: readonly unknown[]) => {
      const lines = await bed.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      plan.push(...lines.map((line) => line['QUERY PLAN']));
      return [];
    };
    const database = Object.assign(Object.create(bed.database), { query });
    const move = {
      name,
      state: 'emptying',
      isKnown: true,
      position: null,
      since: new Date(),
    } as const;
    await deleteBatch(database, { ...move, ...key }, 500);
    expect(plan.filter((line) => line.includes('id = ANY'))).toEqual([
      expect.stringContaining('Index Cond'),
    ]);
  });
});
