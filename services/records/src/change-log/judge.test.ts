import type { Identity } from '@backlot/identity';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { type OperationOf, steps } from '../testing/rules/arbitrary-calls.ts';
import { callers, rules, stored } from '../testing/rules/arbitrary-collections.ts';
import { newProject } from '../testing/rules/contents.ts';
import { callThings, proveAddress, send } from '../testing/rules/send.ts';
import type { Data, Stored } from '../testing/rules/words.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

/** What changes records, and who has shares of them. */
const writes = new Set(
  'delete patch put upsert create batch share unshare invite disinvite prove'.split(' '),
);
const conditions = fc.option(
  fc.constantFrom<object>(
    { a: { $gt: 0 } },
    { b: { $ne: 1 } },
    { state: 0, other: { $exists: false } },
    { $or: [{ c: null }, { 'at.x': { $gte: 1 } }] },
    { createdAt: { $startsWith: '20' } },
    { updatedAt: { $lt: '2020-01-01' } },
  ),
);

/** What one caller sees of the collection, read once and kept true by what they are told. */
const follow = async (identity: Identity, where: object | null) => {
  const call = callThings(bed, identity);
  const filter = where ? `&where=${encodeURIComponent(JSON.stringify(where))}` : '';
  const list = async () => (await call('GET', `?limit=1000${filter}`)).body.items as Stored[];
  const ever = new Set<string>();
  const note = async () => {
    const items = await list();
    for (const { id } of items) ever.add(id);
    return new Map(items.map((item) => [item.id, item]));
  };
  const start = await call('GET', `/_changes?${filter}`);
  expect(start.status).toBe((await call('GET', `?${filter}`)).status);
  if (start.status !== 200) return undefined;
  let { cursor } = start.body;
  const held = await note();
  return {
    note,
    async check() {
      const told: string[] = [];
      await until(async () => {
        const { status, body } = await call('GET', `/_changes?since=${cursor}&limit=3${filter}`);
        expect(status).toBe(200);
        cursor = body.cursor;
        for (const { type, id, record } of body.items) {
          told.push(id);
          if (type === 'create' || type === 'update') held.set(id, record);
          else held.delete(id);
        }
        if (body.hasMore) return false;
        return JSON.stringify([...held].sort()) === JSON.stringify([...(await note())].sort());
      });
      expect(told.filter((id) => !ever.has(id))).toEqual([]);
    },
  };
};

it('who applies what they are told holds what they may read, and is told of nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.array(stored, { minLength: 2, maxLength: 4 }),
      steps,
      conditions,
      async (access, contents, planned, where) => {
        const ids = new V7Generator();
        const records: Stored[] = contents.map((content) => ({
          ...structuredClone(content),
          id: ids.generate().toString(),
        }));
        const project = await newProject(bed, { things: { rules: access, records } });
        const model = {
          records,
          pick: (index: number) => records[index % records.length],
          filled: (_who: Identity, data: Data) => data,
        };
        const followers = await Promise.all(
          Object.values(callers).flatMap((identity) =>
            [null, where].map((filter) => follow({ ...identity, project }, filter)),
          ),
        );
        for (const [name, operation] of planned) {
          if (!writes.has(operation.kind)) continue;
          const identity = { ...callers[name], project };
          const prove = proveAddress(bed, identity);
          await send(
            callThings(bed, identity),
            identity,
            model,
            operation as OperationOf<'put'>,
            prove,
          );
          await Promise.all(followers.map((follower) => follower?.note()));
        }
        await Promise.all(followers.map((follower) => follower?.check()));
      },
    ),
    { numRuns: 8, endOnFailure: true },
  );
});
