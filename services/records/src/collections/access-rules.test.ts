import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { steps } from '../testing/rules/arbitrary-calls.ts';
import { callers, otherIds, rules, stored } from '../testing/rules/arbitrary-collections.ts';
import { limits, schemas } from '../testing/rules/arbitrary-schemas.ts';
import { newProject } from '../testing/rules/contents.ts';
import { Model } from '../testing/rules/model.ts';
import { callThings, proveAddress, send } from '../testing/rules/send.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

it('rules, schemas and limits are what the model says: no leak, no refusal too much, no answer by a hidden field', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(rules, rules),
      fc.array(stored, { minLength: 2, maxLength: 5 }),
      fc.tuple(stored, stored),
      fc.tuple(schemas, limits),
      steps,
      async ([access, otherAccess], contents, otherContents, [schema, limits], planned) => {
        const ids = new V7Generator();
        const things = {
          rules: access,
          schema,
          limits,
          records: contents.map((content) => ({
            ...structuredClone(content),
            id: ids.generate().toString(),
          })),
        };
        const others = {
          rules: otherAccess,
          records: otherContents.map((content, n) => ({
            ...structuredClone(content),
            id: otherIds[n] ?? '',
          })),
        };
        const project = await newProject(bed, { things, others });
        const model = new Model(things, others);
        for (const [name, operation] of planned) {
          const identity = { ...callers[name], project };
          // What is made meanwhile is not there for the model.
          const before = structuredClone(model.records);
          const prove = proveAddress(bed, identity);
          const answer = await send(callThings(bed, identity), identity, model, operation, prove);
          const made = model.records.slice(before.length);
          model.records = model.records.slice(0, before.length);
          const expected = model.run(identity, operation);
          model.records.push(...made);
          expect([name, operation, answer]).toEqual([name, operation, expected]);
        }
      },
    ),
    // A program that is made shorter for minutes would end as a test that took too long, and name nothing.
    { numRuns: 60, endOnFailure: true },
  );
});
