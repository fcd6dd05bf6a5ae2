import type { HistoryEntry } from '@backlot/contract';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { callers, data, rules, stored } from '../testing/rules/arbitrary-collections.ts';
import { newProject } from '../testing/rules/contents.ts';
import { callThings } from '../testing/rules/send.ts';
import { canRead, type Data, type Stored, sees } from '../testing/rules/words.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const ownFields = new Set(['id', 'ownerId', 'groupId', 'createdAt', 'updatedAt']);
const readData = (shown: HistoryEntry['before']) =>
  shown && Object.fromEntries(Object.entries(shown).filter(([field]) => !ownFields.has(field)));

it('nobody sees more of a record’s past than the rules show of it as it is, and as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      rules,
      stored,
      fc.array(data, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (access, content, changes, isDeleted) => {
        const record = { ...structuredClone(content), id: new V7Generator().generate().toString() };
        const project = await newProject(bed, { things: { rules: access, records: [record] } });
        const asKey = callThings(bed, { ...callers.key, project });
        for (const change of changes)
          expect((await asKey('PUT', `/${record.id}`, { data: change })).status).toBe(200);
        if (isDeleted) expect((await asKey('DELETE', `/${record.id}`)).status).toBe(200);
        const withData = (given: Data): Stored => ({ ...record, data: given });
        const versions = [record.data, ...changes].map(withData);
        const last = versions.at(-1) ?? record;
        for (const [name, caller] of Object.entries(callers)) {
          const who = { ...caller, project };
          const call = callThings(bed, who);
          const { status, body } = await call('GET', `/${record.id}/_history`);
          const isSeen = canRead(access, who, last);
          expect([name, status === 200]).toEqual([name, isSeen]);
          if (!isSeen) continue;
          const show = (version: Stored | undefined) => {
            if (!version || !canRead(access, who, version)) return null;
            const shown = Object.entries(version.data).filter(
              ([field]) => sees(access, who, version, field) && sees(access, who, last, field),
            );
            return Object.fromEntries(shown);
          };
          const items = (body.items as HistoryEntry[]).filter(({ seq }) => seq !== null);
          const past = isDeleted ? versions : versions.slice(0, -1);
          const expected = past.map(show).reverse();
          expect([name, items.map(({ before }) => readData(before))]).toEqual([name, expected]);
          if (isDeleted) continue;
          const { body: now } = await call('GET', `/${record.id}`);
          expect([name, items[0]?.after]).toEqual([name, now]);
        }
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
});
