import { randomUUID } from 'node:crypto';
import { type AppEvent, events, recordEventTypes } from '@backlot/contract';
import { asOwner, until } from '@backlot/testing';
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
const told: AppEvent[] = [];
beforeAll(async () => {
  bed = await createTestBed();
  await bed.bus.listen(['app.event'], ({ payload }) => {
    told.push(events['app.event'].parse(payload));
  });
  await bed.service.start();
});
afterAll(() => bed.close());

const writes = new Set(['delete', 'patch', 'put', 'upsert', 'create']);
const filters = fc.constantFrom<Record<string, unknown>>(
  { a: { $gt: 0 } },
  { b: { $ne: 1 } },
  { state: 0 },
  { $or: [{ c: null }, { 'at.x': { $gte: 1 } }] },
);

/** The same text for the same record, whatever the order of its fields. */
const toText = (record: object) =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

it('a webhook is told what its owner could GET at that moment, and by a filter what they could list by it', async () => {
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.array(stored, { minLength: 2, maxLength: 4 }),
      steps,
      filters,
      async (access, contents, planned, where) => {
        const ids = new V7Generator();
        const records: Stored[] = contents.map((content) => ({
          ...structuredClone(content),
          id: ids.generate().toString(),
        }));
        const project = await newProject(bed, { things: { rules: access, records } });
        const want = { types: [...recordEventTypes], collection: 'things' };
        const since = new Date(Date.now() - 60_000).toISOString();
        const wants = [
          { ...want, webhook: 'all', where: null, since },
          { ...want, webhook: 'some', where, since },
        ];
        const { id: projectId, number: projectNumber } = project;
        await bed.bus.publish({
          id: randomUUID(),
          topic: 'webhooks.changed',
          payload: { projectId, projectNumber, version: 1, wants },
        });
        await until(async () => {
          const known = 'SELECT FROM told_projects WHERE project_id = $1';
          return (await bed.database.query(known, [projectNumber])).length > 0;
        });
        const owner = callThings(bed, asOwner({ project }));
        const seen = { all: new Set<string>(), some: new Set<string>() };
        const note = async () => {
          const filter = encodeURIComponent(JSON.stringify(where));
          const lists = [
            [seen.all, '?limit=1000'],
            [seen.some, `?limit=1000&where=${filter}`],
          ] as const;
          for (const [texts, query] of lists)
            for (const record of (await owner('GET', query)).body.items) texts.add(toText(record));
        };
        const model = {
          records,
          pick: (index: number) => records[index % records.length],
          filled: (_who: unknown, data: Data) => data,
        };
        await note();
        for (const [name, operation] of planned) {
          if (!writes.has(operation.kind)) continue;
          const identity = { ...callers[name], project };
          const prove = proveAddress(bed, identity);
          const call = callThings(bed, identity);
          await send(call, identity, model, operation as OperationOf<'put'>, prove);
          await note();
        }
        const last = await owner('POST', '', { data: { isLast: true } });
        await note();
        const ofProject = () => told.filter((event) => event.projectNumber === projectNumber);
        await until(() => ofProject().some(({ data }) => data.id === last.body.id));
        for (const { webhooks, data } of ofProject()) {
          const text = toText(data.record as object);
          expect([text, seen.all.has(text)]).toEqual([text, true]);
          expect([text, webhooks?.includes('some')]).toEqual([text, seen.some.has(text)]);
        }
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});
