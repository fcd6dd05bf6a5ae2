import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { type Operation, operations } from '../testing/rules/arbitrary-calls.ts';
import {
  callers,
  data,
  otherIds,
  rulesOnOwners,
  stored,
} from '../testing/rules/arbitrary-collections.ts';
import { newProject } from '../testing/rules/contents.ts';
import { Model } from '../testing/rules/model.ts';
import { callThings, proveAddress, send } from '../testing/rules/send.ts';
import type { Call } from '../testing/rules/send-lists.ts';
import { canRead, type Data, type Stored, sees } from '../testing/rules/words.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

type Content = Omit<Stored, 'id'>;

/** What differs from call to call, and is no secret. */
const volatile = new Set(['requestId', 'createdAt', 'updatedAt', 'nextCursor']);

/** When records were made and changed, in lines of CSV. */
const times = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** All that answers say, with the records that were made by their number. */
const listen = (call: Call, model: Model) => {
  const heard: string[] = [];
  const listening: Call = async (...request) => {
    const answer = await call(...request);
    const { status, headers, body } = answer;
    const text = JSON.stringify(body, (key, value) => (volatile.has(key) ? undefined : value));
    heard.push(
      `${status} ${headers.get('backlot-hint') ?? ''} ${text?.replaceAll(times, 'a time')}`,
    );
    return answer;
  };
  const words = () =>
    heard.map((text) =>
      model.records.reduce((named, { id }, n) => named.replaceAll(id, `record ${n}`), text),
    );
  return { listening, words };
};

/** Whether it may give the caller a share: they see then what was hidden before. */
const mayGiveShare = (operation: Operation, { userId }: Identity) =>
  (operation.kind === 'prove' || operation.kind === 'share') && operation.userId === userId;

/** The record with other contents, wherever the caller can't see them, nor could with a share that the plan may give them. */
const withSecrets = (
  access: AccessRules,
  who: Identity,
  planned: readonly Operation[],
  record: Stored,
  secrets: Data,
): Stored => {
  const { userId } = who;
  const isGiven = userId && planned.some((operation) => mayGiveShare(operation, who));
  const shares = [...record.shares, ...(isGiven ? [{ userId, may: 'read' as const }] : [])];
  const shown = { ...record, shares };
  const isSeen = (field: string) => canRead(access, who, shown) && sees(access, who, shown, field);
  const choose = (from: Data, wanted: boolean) =>
    Object.entries(from).filter(([field]) => isSeen(field) === wanted);
  const chosen = [...choose(record.data, true), ...choose(secrets, false)];
  return { ...record, data: Object.fromEntries(chosen) };
};

const contents = (maxLength: number) =>
  fc.array(fc.tuple(stored, data), { minLength: 2, maxLength });

it('a caller hears the same, word for word, whatever is in the fields that are hidden from them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(rulesOnOwners, rulesOnOwners),
      fc.tuple(contents(4), contents(2)),
      fc.constantFrom('anonymous' as const, 'ada' as const, 'bob' as const, 'staff' as const),
      fc.array(operations, { minLength: 6, maxLength: 12 }),
      async ([access, otherAccess], [things, others], name, planned) => {
        const ids = new V7Generator();
        const thingIds = things.map(() => ids.generate().toString());
        const hear = async (
          fill: (access: AccessRules, record: Stored, secrets: Data) => Stored,
        ) => {
          const store = (access: AccessRules, all: [Content, Data][], ids: string[]) => ({
            rules: access,
            records: all.map(([content, secrets], n) =>
              fill(access, { ...structuredClone(content), id: ids[n] ?? '' }, secrets),
            ),
          });
          const collections = {
            things: store(access, things, thingIds),
            others: store(otherAccess, others, otherIds),
          };
          const project = await newProject(bed, collections);
          const identity = { ...callers[name], project };
          const model = new Model(collections.things, collections.others);
          const { listening, words } = listen(callThings(bed, identity), model);
          const prove = proveAddress(bed, identity);
          for (const operation of planned) await send(listening, identity, model, operation, prove);
          // Hints name the project.
          return words().map((text) => text.replaceAll(project.id, 'this project'));
        };
        const first = await hear((_access, record) => record);
        const second = await hear((access, record, secrets) =>
          withSecrets(access, callers[name], planned, record, secrets),
        );
        expect(second).toEqual(first);
      },
    ),
    { numRuns: 40, endOnFailure: true },
  );
});
