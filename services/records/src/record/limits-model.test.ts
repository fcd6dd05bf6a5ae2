import type { CollectionLimits } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  createTestClock,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const callers: Record<string, Identity> = {
  ada: asUser(ada),
  bob: asUser(bob),
  bobElsewhere: asUser(bob, { ip: '192.0.2.9' }),
  visitor: anonymous(),
  key: asKey(),
};

interface Made {
  id: string;
  ownerId: string | null;
  bytes: number;
}
type Outcome = 'done' | 'limit_reached' | 'rate_limited';

/** What a collection with limits lets its callers do: everybody may create, and keys change what there is. */
class Model {
  limits: CollectionLimits = {};
  records: Made[] = [];
  readonly #hours = new Map<string, { endsAt: number; count: number }>();

  create(
    { caller, userId, ip }: Identity,
    bytes: readonly number[],
    deleted: string[],
    now: number,
  ): Outcome {
    const {
      maxBytes = Number.POSITIVE_INFINITY,
      perUser,
      perUserPerHour,
      perAddressPerHour,
    } = this.limits;
    if (bytes.some((each) => each > maxBytes)) return 'limit_reached';
    if (caller === 'key') return 'done';
    const owned = this.records.filter(
      ({ id, ownerId }) => ownerId === userId && !deleted.includes(id),
    );
    if (userId && perUser && owned.length + bytes.length > perUser) return 'limit_reached';
    const hourly = [
      [userId && perUserPerHour ? `user ${userId}` : undefined, perUserPerHour],
      [perAddressPerHour ? `address ${ip}` : undefined, perAddressPerHour],
    ] as const;
    for (const [key, most = 0] of hourly)
      if (key && this.#count(key, now) + bytes.length > most)
        return bytes.length > most ? 'limit_reached' : 'rate_limited';
    for (const [key] of hourly) {
      if (!key) continue;
      const count = this.#count(key, now);
      const endsAt = count > 0 ? (this.#hours.get(key)?.endsAt ?? 0) : now + hourMs;
      this.#hours.set(key, { endsAt, count: count + bytes.length });
    }
    return 'done';
  }

  change(record: Made, bytes: number): Outcome {
    const { maxBytes = Number.POSITIVE_INFINITY } = this.limits;
    return bytes > maxBytes && bytes > record.bytes ? 'limit_reached' : 'done';
  }

  #count(key: string, now: number): number {
    const hour = this.#hours.get(key);
    return hour && hour.endsAt > now ? hour.count : 0;
  }
}

const few = fc.option(fc.integer({ min: 1, max: 4 }), { nil: null });
const limits = fc.record({
  maxBytes: fc.option(fc.integer({ min: 20, max: 120 }), { nil: null }),
  perUser: few,
  perUserPerHour: few,
  perAddressPerHour: few,
});
const length = fc.integer({ min: 0, max: 100 });
const by = fc.constantFrom(...Object.keys(callers));
/** Of a record that is there; nothing is done where there is none. */
const which = fc.nat(20);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('create' as const), by, length }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('upsert' as const), by, length }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('batch' as const),
      by,
      lengths: fc.array(length, { minLength: 1, maxLength: 3 }),
      deletes: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('change' as const),
      which,
      length,
      puts: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('delete' as const), which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('set' as const), limits }) },
);

let bed: TestBed;
const clock = createTestClock();
beforeAll(async () => {
  bed = await createTestBed({}, {}, { clock });
});
afterAll(() => bed.close());

const path = `/platform/projects/${testProject.id}/collections`;
const makeData = (length: number) => ({ t: 'x'.repeat(length) });
const bytesOf = (length: number) => '{"t": ""}'.length + length;
const ids = new V7Generator();
let collections = 0;

type ValueOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type Step = ValueOf<typeof step>;
type StepOf<What> = Extract<Step, { what: What }>;
/** What came of a step, and what the model says. */
type Outcomes = readonly [came: string, expected: string];
const nothing: Outcomes = ['', ''];

const send = async (identity: Identity, method: string, at: string, body?: object) => {
  const answer = await bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  return [answer.status < 300 ? 'done' : answer.body.code, answer.body] as const;
};

const make = async (
  name: string,
  model: Model,
  { what, by, length }: StepOf<'create' | 'upsert'>,
): Promise<Outcomes> => {
  const identity = callers[by] ?? anonymous();
  const now = clock.now();
  const expected = model.create(identity, [bytesOf(length)], [], now);
  const id = ids.generateOrResetWithTs(now).toString();
  const data = makeData(length);
  const [came, body] =
    what === 'create'
      ? await send(identity, 'POST', name, { data })
      : await send(identity, 'PUT', `${name}/${id}?upsert=1`, { data });
  if (came === 'done') model.records.push({ ...body, bytes: bytesOf(length) });
  return [came, expected];
};

const makeSome = async (
  name: string,
  model: Model,
  { by, lengths, deletes }: StepOf<'batch'>,
): Promise<Outcomes> => {
  const identity = callers[by] ?? anonymous();
  const ownerId = identity.caller === 'user' ? identity.userId : null;
  const theirs = model.records.filter((each) => each.ownerId === ownerId).map(({ id }) => id);
  const gone = deletes ? theirs.slice(0, 2) : [];
  const expected = model.create(identity, lengths.map(bytesOf), gone, clock.now());
  const create = lengths.map((length) => ({ data: makeData(length) }));
  const [came, body] = await send(identity, 'POST', `${name}/_batch`, { create, delete: gone });
  if (came !== 'done') return [came, expected];
  model.records = model.records.filter(({ id }) => !gone.includes(id));
  for (const [i, { id }] of body.create.entries())
    model.records.push({ id, ownerId, bytes: bytesOf(lengths[i] ?? 0) });
  return [came, expected];
};

/** Does what a step says, here and in the model. */
const run = async (name: string, model: Model, planned: Step): Promise<Outcomes> => {
  switch (planned.what) {
    case 'create':
    case 'upsert':
      return make(name, model, planned);
    case 'batch':
      return makeSome(name, model, planned);
    case 'pass':
      clock.pass(25 * minuteMs);
      return nothing;
    case 'set':
      await setLimits(name, model, planned.limits);
      return nothing;
  }
  const record = model.records[planned.which % model.records.length];
  if (!record) return nothing;
  const at = `${name}/${record.id}`;
  if (planned.what === 'delete') {
    model.records = model.records.filter((each) => each !== record);
    return [(await send(asKey(), 'DELETE', at))[0], 'done'];
  }
  const expected = model.change(record, bytesOf(planned.length));
  if (expected === 'done') record.bytes = bytesOf(planned.length);
  const method = planned.puts ? 'PUT' : 'PATCH';
  return [(await send(asKey(), method, at, { data: makeData(planned.length) }))[0], expected];
};

const setLimits = async (name: string, model: Model, asked: ValueOf<typeof limits>) => {
  const { body } = await bed.call('PUT', `${path}/${name}`, {
    identity: asOwner(),
    body: { access: 'shared', limits: asked },
  });
  model.limits = body.limits ?? {};
  await until(async () => {
    const [found] = await bed.database.query(
      `SELECT FROM record_limits JOIN collections USING (project_id, coll_id) WHERE name = $1 AND state = 'building'`,
      [name],
    );
    return !found;
  });
};

it('limits are what the model says: nothing too much, and no refusal too much', async () => {
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(step, { minLength: 5, maxLength: 25 }),
      async (first, steps) => {
        const name = `limited${++collections}`;
        const model = new Model();
        await setLimits(name, model, first);
        for (const planned of steps) {
          const [outcome, expected] = await run(name, model, planned);
          expect([planned, outcome]).toEqual([planned, expected]);
        }
        const { body } = await bed.call('GET', `/db/${name}?limit=1000`, { identity: asKey() });
        const found = body.items.map(({ id }: { id: string }) => id).sort();
        expect(found).toEqual(model.records.map(({ id }) => id).sort());
        await bed.call('DELETE', `${path}/${name}`, { identity: asOwner() });
      },
    ),
    { numRuns: 25 },
  );
});
