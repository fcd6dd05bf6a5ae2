import { setTimeout as pause } from 'node:timers/promises';
import { isDeadlock } from '@backlot/database';
import { anonymous, asOwner, asUser, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;
type Shown = { field: string; state: string; duplicates?: string[] };

describe('unique fields', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const put = (collection: string, body: object) =>
    bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body });
  const shown = async (collection: string): Promise<Shown[]> => {
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection).unique;
  };
  const untilBuilt = (collection: string) =>
    until(async () => (await shown(collection)).every(({ state }) => state !== 'building'));
  const call = (method: string, at: string, body?: object, identity = anonymous()) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const isTaken = (answer: { status: number; body: { code?: string } }) =>
    answer.status === 409 && answer.body.code === 'not_unique';

  /** Claims of no record with that value, values without a claim, and values that two records have. */
  const wrongClaims = (collection: string) =>
    bed.database.query(
      `WITH fields AS (
         SELECT project_id, coll_id, number, field FROM unique_fields JOIN collections USING (project_id, coll_id)
         WHERE name = $1 AND state = 'ready'),
       wanted AS (
         SELECT number, id, CASE field WHEN 'ownerId' THEN unique_key(owner_key(owner_id))
           ELSE unique_key(data #> string_to_array(field, '.')) END AS key
         FROM records JOIN fields USING (project_id, coll_id)),
       claims AS (
         SELECT number, record_id AS id, key FROM unique_values JOIN fields USING (project_id, coll_id, number))
       SELECT 'missing' AS problem, number, id, key FROM (
         SELECT * FROM wanted WHERE key IS NOT NULL EXCEPT ALL SELECT * FROM claims) missing
       UNION ALL SELECT 'left over', number, id, key FROM (
         SELECT number, id, key FROM claims EXCEPT ALL SELECT * FROM wanted) left_over`,
      [collection],
    );

  it('are set by the owner, and a value that another record has is a 409 that names the field', async () => {
    const set = await put('people', { unique: ['email', 'at.desk'], access: 'public-read' });
    expect(set).toMatchObject({
      status: 200,
      body: { unique: [{ field: 'email' }, { field: 'at.desk' }] },
    });
    await untilBuilt('people');
    const identity = asUser(ada);
    const made = await bed.create('people', { email: 'a@x.org', at: { desk: 1 } }, identity);
    const other = await bed.create('people', { email: 'b@x.org' }, identity);
    const create = (data: object) => call('POST', 'people', { data }, identity);
    const change = (data: object) => call('PATCH', `people/${other.id}`, { data }, identity);
    const answers = [
      await create({ email: 'a@x.org' }),
      await change({ email: 'a@x.org' }),
      await call('PUT', `people/${other.id}`, { data: { email: 'a@x.org' } }, identity),
      await call('PUT', `people/${uuidv7()}?upsert=1`, { data: { email: 'a@x.org' } }, identity),
      await call(
        'POST',
        'people/_batch',
        { create: [{ data: { email: 'c' } }, { data: { email: 'c' } }] },
        identity,
      ),
      await call(
        'POST',
        'people/_batch',
        { update: [{ id: other.id, data: { email: 'a@x.org' } }] },
        identity,
      ),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      answers.map(() => [409, 'not_unique']),
    );
    for (const { body } of answers) expect(body.error).toContain('"email"');
    expect(answers[4]?.body.error).toContain('create[1]');
    expect(answers[5]?.body.error).toContain('update[0]');
    expect((await change({ at: { desk: 1.0 } })).body.error).toContain('"at.desk"');
    expect(
      (await call('PATCH', `people/${made.id}`, { data: { email: 'a@x.org', n: 1 } }, identity))
        .status,
    ).toBe(200);
    expect(await wrongClaims('people')).toEqual([]);
  });

  it('compare values as JSON, null and missing ones not at all', async () => {
    await put('values', { unique: ['v'] });
    const long = 'é'.repeat(5000);
    const values = [1, '1', true, 'A', 'a', [1, 2], [2, 1], { a: 1, b: 2 }, long, '', 0];
    const made = [];
    for (const v of values) made.push(await bed.create('values', { v }));
    const [one] = made;
    for (const data of [{ v: null }, { v: null }, {}, {}, [1]]) {
      const { status } = await call('POST', 'values', { data });
      expect([data, status]).toEqual([data, Array.isArray(data) ? 400 : 201]);
    }
    for (const v of [...values, { b: 2, a: 1 }]) {
      expect([v, isTaken(await call('POST', 'values', { data: { v } }))]).toEqual([v, true]);
    }
    expect(isTaken(await call('PATCH', `values/${one?.id}`, { inc: { v: -1 } }))).toBe(true);
    expect((await call('PATCH', `values/${one?.id}`, { inc: { v: 1 } })).body.v).toBe(2);
    expect(isTaken(await call('POST', 'values', { data: { v: 2 } }))).toBe(true);
    expect((await call('POST', 'values', { data: { v: 1 } })).status).toBe(201);
    await untilBuilt('values');
    expect(await wrongClaims('values')).toEqual([]);
  });

  it('let one record of each user be where the field is the owner', async () => {
    await put('profiles', { unique: ['ownerId'], access: 'public-read' });
    const mine = await bed.create('profiles', { n: 1 }, asUser(ada));
    expect(isTaken(await call('POST', 'profiles', { data: {} }, asUser(ada)))).toBe(true);
    await bed.create('profiles', {}, asUser(bob));
    expect((await call('PUT', `profiles/${mine.id}`, { data: { n: 2 } }, asUser(ada))).status).toBe(
      200,
    );
    expect((await call('DELETE', `profiles/${mine.id}`, undefined, asUser(ada))).status).toBe(200);
    await bed.create('profiles', {}, asUser(ada));
    await untilBuilt('profiles');
    expect(await wrongClaims('profiles')).toEqual([]);
  });

  it('free a value with each change that gives it up, and swap values in a batch', async () => {
    await put('seats', { unique: ['seat'] });
    const [a, b, c] = [
      await bed.create('seats', { seat: 'a' }),
      await bed.create('seats', { seat: 'b' }),
      await bed.create('seats', { seat: 'c' }),
    ];
    const freed = [
      () => call('PATCH', `seats/${a.id}`, { unset: ['seat'] }),
      () => call('PUT', `seats/${b.id}`, { data: {} }),
      () => call('DELETE', `seats/${c.id}`),
    ];
    for (const [i, free] of freed.entries()) {
      const data = { seat: 'abc'[i] };
      expect(isTaken(await call('POST', 'seats', { data }))).toBe(true);
      expect((await free()).status).toBe(200);
      const again = await bed.create('seats', data);
      await call('DELETE', `seats/${again.id}`);
    }
    const swap = {
      create: [{ data: { seat: 'freed' } }],
      update: [
        { id: a.id, data: { seat: 'y' } },
        { id: b.id, data: { seat: 'x' } },
      ],
      delete: [(await bed.create('seats', { seat: 'freed' })).id],
    };
    await call('PATCH', `seats/${a.id}`, { data: { seat: 'x' } });
    await call('PATCH', `seats/${b.id}`, { data: { seat: 'y' } });
    expect((await call('POST', 'seats/_batch', swap)).status).toBe(200);
    await untilBuilt('seats');
    expect(await wrongClaims('seats')).toEqual([]);
  });

  it('admit one of 50 writers of the same value, whichever way each writes', async () => {
    await put('race', { unique: ['email'] });
    const spare = await Promise.all(Array.from({ length: 20 }, () => bed.create('race', {})));
    for (const email of ['one@x.org', 'two@x.org']) {
      const data = { email };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => {
          const id = spare[i % 20]?.id;
          switch (i % 4) {
            case 0:
              return call('POST', 'race', { data });
            case 1:
              return call('PATCH', `race/${id}`, { data });
            case 2:
              return call('PUT', `race/${uuidv7()}?upsert=1`, { data });
            default:
              return call('POST', 'race/_batch', { create: [{ data: { email: null } }, { data }] });
          }
        }),
      );
      const done = answers.filter(({ status }) => status < 300);
      const refused = answers.filter(isTaken);
      expect([done.length > 0, done.length + refused.length]).toEqual([true, 50]);
      const { count } = (await call('GET', `race/_count?where=${JSON.stringify(data)}`)).body;
      expect(count).toBe(1);
    }
    await untilBuilt('race');
    expect(await wrongClaims('race')).toEqual([]);
  });

  it('keep exactly the claims of what there is, whatever runs at once', async () => {
    await put('busy', { unique: ['n', 'deep.m'] });
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => (await bed.create('busy', {})).id),
    );
    const write = async (writer: number) => {
      for (let i = 0; i < 25; i++) {
        const at = `busy/${ids[(i * 3 + writer) % ids.length]}`;
        const n = (i * 7 + writer) % 6;
        const answers = [
          await call('PATCH', at, { data: { n } }),
          await call('PATCH', at, { inc: { n: 1 } }),
          await call('PUT', at, { data: { n: n + 1, deep: { m: n } } }),
          await call('POST', 'busy/_batch', {
            create: [{ data: { n: 100 + writer * 100 + i } }],
            update: [
              { id: ids[i % 8], data: { deep: { m: writer } } },
              { id: ids[(i + 1) % 8], unset: ['n'] },
            ],
          }),
          await call('PATCH', `${at}?merge=deep`, { data: { deep: { m: n } } }),
          await call('PUT', at, { data: {} }),
        ];
        const odd = answers.filter(
          ({ status }) => status !== 200 && status !== 409 && status !== 400,
        );
        expect(odd).toEqual([]);
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, writer) => write(writer)));
    await untilBuilt('busy');
    expect(await wrongClaims('busy')).toEqual([]);
  });

  it('are tried again where two that swap their values wait for each other', async () => {
    // Made before the field is unique: a value that was claimed just now is looked for by a read first.
    const pairs = await Promise.all(
      Array.from({ length: 4 }, async (_, pair) => ({
        mine: await bed.create('swaps', { n: `mine ${pair}` }),
        theirs: await bed.create('swaps', { n: `theirs ${pair}` }),
      })),
    );
    await put('swaps', { unique: ['n'] });
    await untilBuilt('swaps');
    const { ownerDatabase } = bed;
    const swap = (pair: number) =>
      ownerDatabase.transaction(async () => {
        const { mine, theirs } = pairs[pair] ?? {};
        await ownerDatabase.query('DELETE FROM unique_values WHERE record_id = $1', [theirs?.id]);
        await ownerDatabase.query(`UPDATE records SET data = '{}' WHERE id = $1`, [theirs?.id]);
        const answer = call('PATCH', `swaps/${mine?.id}`, { data: { n: `theirs ${pair}` } });
        await until(async () => (await countLockWaits(bed.databaseUrl)) > 0);
        await ownerDatabase.query(
          `INSERT INTO unique_values
           SELECT project_id, coll_id, number, unique_key($2::jsonb), $1
           FROM unique_fields JOIN collections USING (project_id, coll_id) WHERE name = 'swaps'
           ON CONFLICT DO NOTHING`,
          [theirs?.id, JSON.stringify(`mine ${pair}`)],
        );
        return { answer, pair };
      });
    // PostgreSQL may end this transaction in place of the caller's: then nothing has changed.
    const swapUntilCallerLoses = (pair = 0): ReturnType<typeof swap> =>
      swap(pair).catch((error: unknown) => {
        if (isDeadlock(error)) return swapUntilCallerLoses(pair + 1);
        throw error;
      });
    const { answer, pair } = await swapUntilCallerLoses();
    expect(await answer).toMatchObject({ status: 200, body: { n: `theirs ${pair}` } });
    expect(await wrongClaims('swaps')).toEqual([]);
  });

  it('leave nothing half done where connections break', async () => {
    await put('broken', { unique: ['n'] });
    const ids = await Promise.all(
      Array.from({ length: 6 }, async () => (await bed.create('broken', {})).id),
    );
    let isOver = false;
    const write = async (writer: number) => {
      for (let i = 0; i < 60; i++) {
        const at = `broken/${ids[(i + writer) % ids.length]}`;
        const data = { n: (i + writer) % 5 };
        await call('PATCH', at, { data });
        await call('POST', 'broken/_batch', {
          create: [{ data: { n: 100 + writer * 100 + i } }],
          update: [{ id: ids[i % ids.length], unset: ['n'] }],
        });
      }
    };
    const breakConnections = async () => {
      while (!isOver) {
        await bed.ownerDatabase.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND query LIKE '%unique_values%' AND pid <> pg_backend_pid()`,
        );
        await pause(20);
      }
    };
    const breaking = breakConnections();
    await Promise.all([0, 1, 2, 3].map(write));
    isOver = true;
    await breaking;
    await untilBuilt('broken');
    expect(await wrongClaims('broken')).toEqual([]);
    expect((await call('PATCH', `broken/${ids[0]}`, { data: { n: 'new' } })).status).toBe(200);
  });

  it('are built over records that are there, while others write', async () => {
    await bed.create('old', { n: 'first' });
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(), jsonb_build_object('n', n)
       FROM collections, generate_series(1, 3000) n WHERE name = 'old'`,
    );
    const { items } = (await call('GET', 'old?sort=id&limit=200')).body;
    const write = async () => {
      for (const [i, { id }] of items.entries()) {
        const answer = await (i % 3 === 0
          ? call('DELETE', `old/${id}`)
          : call('PATCH', `old/${id}`, { data: { n: `new ${i}` } }));
        expect(answer.status).toBe(200);
        await bed.create('old', { n: `made ${i}` });
      }
    };
    const [set] = await Promise.all([put('old', { unique: ['n'] }), write()]);
    expect(set).toMatchObject({
      status: 200,
      body: { unique: [{ field: 'n', state: 'building' }] },
    });
    await untilBuilt('old');
    expect(await shown('old')).toEqual([{ field: 'n', state: 'ready' }]);
    expect(await wrongClaims('old')).toEqual([]);
    expect(isTaken(await call('POST', 'old', { data: { n: 2999 } }))).toBe(true);
  });

  it('that two records have the same value of fail and name both; then nothing is refused', async () => {
    const twins = [await bed.create('twins', { n: 1 }), await bed.create('twins', { n: 1 })];
    await put('twins', { unique: ['n'] });
    await untilBuilt('twins');
    const duplicates = twins.map(({ id }) => id);
    expect(await shown('twins')).toEqual([{ field: 'n', state: 'failed', duplicates }]);
    const third = await bed.create('twins', { n: 1 });
    for (const id of [duplicates[0], third.id]) await call('DELETE', `twins/${id}`);
    await put('twins', { unique: ['n'] });
    await untilBuilt('twins');
    expect(await shown('twins')).toEqual([{ field: 'n', state: 'ready' }]);
    expect(isTaken(await call('POST', 'twins', { data: { n: 1 } }))).toBe(true);
    expect(await wrongClaims('twins')).toEqual([]);
  });

  it('are forgotten where the owner takes them away, with all that was kept for them', async () => {
    await put('brief', { unique: ['n'] });
    await bed.create('brief', { n: 1 });
    expect((await put('brief', { unique: [] })).body.unique).toEqual([]);
    await bed.create('brief', { n: 1 });
    await until(async () => {
      const [row] = await bed.database.query<{ left: number }>(
        `SELECT (SELECT count(*) FROM unique_fields JOIN collections USING (project_id, coll_id) WHERE name = 'brief')
           + (SELECT count(*) FROM unique_values JOIN collections USING (project_id, coll_id) WHERE name = 'brief') AS left`,
      );
      return row?.left === 0;
    });
  });

  it('are right for a process that has not heard of them yet', async () => {
    const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
    const made = await other.create('late', { n: 1 });
    const gone = await other.create('late', { n: 2 });
    await put('late', { unique: ['n'] });
    const send = (method: string, at: string, body?: object) =>
      other.call(method, `/db/late${at}`, { identity: anonymous(), ...(body && { body }) });
    expect((await send('DELETE', `/${gone.id}`)).status).toBe(200);
    await untilBuilt('late');
    await put('late', { unique: ['n', 'm'] });
    expect((await send('POST', '/_batch', { delete: [made.id] })).status).toBe(200);
    expect((await send('POST', '', { data: { n: 1, m: 1 } })).status).toBe(201);
    await put('late', { unique: ['m', 'o'] });
    expect((await send('POST', '', { data: { n: 1, o: 1 } })).status).toBe(201);
    expect(isTaken(await send('POST', '', { data: { m: 1 } }))).toBe(true);
    await untilBuilt('late');
    expect(await wrongClaims('late')).toEqual([]);
    await other.close();
  });

  it('are at most three, and not what is unique anyway or the server sets', async () => {
    for (const field of ['id', 'createdAt', 'updatedAt', '$x', 'a.$b', 'a\0']) {
      const refused = await put('few', { unique: [field] });
      expect([field, refused.status, refused.body.code]).toEqual([field, 400, 'invalid_body']);
      expect(refused.body.error).toContain('unique');
    }
    expect((await put('few', { unique: ['a', 'b', 'c', 'd'] })).status).toBe(400);
    expect((await put('few', { unique: ['a', 'a'] })).body.unique).toHaveLength(1);
  });
});
