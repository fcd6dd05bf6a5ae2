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
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { forgetCounts } from '../indexes/build-limits.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;
const minuteMs = 60_000;

describe('limits of a collection', () => {
  const clock = createTestClock();
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({}, {}, { clock });
  });
  afterAll(() => bed.close());

  const put = (collection: string, body: object) =>
    bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body });
  const shown = async (collection: string) => {
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection);
  };
  const setLimits = async (
    collection: string,
    limits: object,
    access: object | string = 'public-read',
  ) => {
    const set = await put(collection, { limits, access });
    expect(set.status).toBe(200);
    await until(async () => (await shown(collection)).limitsState !== 'building');
  };
  const call = (method: string, at: string, body?: object, identity: Identity = asUser(ada)) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const create = (collection: string, identity: Identity = asUser(ada), data: object = {}) =>
    call('POST', collection, { data }, identity);
  const outcome = ({ status, body }: { status: number; body: { code?: string } }) =>
    status < 300 ? 'done' : `${status} ${body.code}`;
  const count = async (collection: string, where: object = {}) =>
    (await call('GET', `${collection}/_count?where=${JSON.stringify(where)}`)).body.count;

  it('are set one by one, shown, and taken away one by one or all', async () => {
    expect((await put('set', { limits: { maxBytes: 1000, perUser: 3 } })).body).toMatchObject({
      limits: { maxBytes: 1000, perUser: 3 },
      limitsState: 'building',
    });
    const changed = await put('set', { limits: { perUser: null, perUserPerHour: 5 } });
    expect(changed.body.limits).toEqual({ maxBytes: 1000, perUserPerHour: 5 });
    expect(changed.body.limitsState).toBeUndefined();
    expect((await put('set', { limits: { perAddressPerHour: 9 } })).body.limits).toEqual({
      maxBytes: 1000,
      perUserPerHour: 5,
      perAddressPerHour: 9,
    });
    expect((await put('set', { access: 'public-read' })).body.limits.maxBytes).toBe(1000);
    expect((await put('set', { limits: null })).body.limits).toBeNull();
  });

  it('come with advice where visitors may create, whom those of users do not bind', async () => {
    const set = (limits: object, access: unknown) => put('advised', { limits, access });
    const advice = async (limits: object, access: unknown = 'shared') =>
      (await set(limits, access)).body.advice;
    expect(await advice({ perUser: 3 })).toContain('"perUser" does not bind them');
    expect(await advice({ perAddressPerHour: 9 })).toBeUndefined();
    expect(await advice({ perAddressPerHour: null }, 'public-read')).toBeUndefined();
    const rules = { read: [], create: ['users', 'anyone'], change: [] };
    expect(await advice({ perUser: null, perUserPerHour: 2 }, rules)).toContain('"perUserPerHour"');
    expect(await advice({ perUserPerHour: null, maxBytes: 100 }, rules)).toBeUndefined();
  });

  it.each([
    [{ perUser: 0 }, 'perUser'],
    [{ perUser: 1.5 }, 'perUser'],
    [{ perUser: '3' }, 'perUser'],
    [{ maxBytes: 1 }, 'maxBytes'],
    [{ maxBytes: 2 ** 21 }, 'maxBytes'],
    [{ perUserPerHour: -1 }, 'perUserPerHour'],
    [{ perAddressPerHour: 1e9 }, 'perAddressPerHour'],
    [{ perMinute: 3 }, 'perMinute'],
    [[], 'limits'],
    ['10', 'limits'],
  ])('%j is refused by name', async (limits, name) => {
    const { status, body } = await put('refused', { limits });
    expect([status, body.code]).toEqual([400, 'invalid_body']);
    expect(body.error).toContain(name);
  });

  describe('maxBytes', () => {
    const large = { text: 'x'.repeat(200) };

    it('bounds what is made and changed on every way, by the owner’s keys too, and names both sizes', async () => {
      await setLimits('small', { maxBytes: 200 });
      const made = await bed.create('small', { text: 'x'.repeat(150) }, asUser(ada));
      const at = `small/${made.id}`;
      const answers = [
        await create('small', asUser(ada), large),
        await create('small', asKey(), large),
        await call('PUT', `small/${uuidv7()}?upsert=1`, { data: large }),
        await call('PUT', `${at}?upsert=1`, { data: large }),
        await call('PUT', at, { data: large }),
        await call('PATCH', at, { data: { more: 'x'.repeat(60) } }),
        await call('PATCH', `${at}?merge=deep`, { data: { deep: { more: 'x'.repeat(60) } } }),
        await call('PATCH', at, { inc: { ['n'.repeat(60)]: 1 } }),
        await call('PATCH', at, { data: { more: 'x'.repeat(60) } }, asKey()),
        await call('POST', 'small/_batch', { create: [{ data: {} }, { data: large }] }),
        await call('POST', 'small/_batch', {
          update: [{ id: made.id, data: { m: 'x'.repeat(60) } }],
        }),
      ];
      expect(answers.map(outcome)).toEqual(answers.map(() => '403 limit_reached'));
      expect(answers[0]?.body.error).toMatch(/would have 212 bytes.*may have 200/);
      expect(answers[5]?.body.error).toMatch(/would have 2\d\d bytes.*may have 200/);
      expect(answers[9]?.body.error).toContain('create[1]');
      expect(answers[10]?.body.error).toContain('update[0]');
      expect(answers[0]?.body.hint).toContain('"maxBytes"');
      expect(await count('small')).toBe(1);
      expect((await call('GET', at)).body).toEqual(made);
      expect((await call('PATCH', at, { data: { more: 'x' } })).status).toBe(200);
    });

    it('leaves records from before as they are; what makes none larger goes on', async () => {
      const made = await bed.create('former', { text: 'x'.repeat(500), n: 1 }, asUser(ada));
      await setLimits('former', { maxBytes: 100 }, 'public-read');
      const at = `former/${made.id}`;
      expect((await call('PATCH', at, { data: { n: 2 } })).status).toBe(200);
      expect(outcome(await call('PATCH', at, { data: { m: 2 } }))).toBe('403 limit_reached');
      expect((await call('PUT', at, { data: { text: 'x'.repeat(300) } })).status).toBe(200);
      expect(outcome(await call('PUT', at, { data: { text: 'x'.repeat(400) } }))).toBe(
        '403 limit_reached',
      );
    });

    it('holds for changes that are made together', async () => {
      await setLimits('together', { maxBytes: 100 });
      const made = await Promise.all(
        Array.from({ length: 12 }, () => bed.create('together', { n: 0 }, asUser(ada))),
      );
      const answers = await Promise.all(
        made.map(({ id }, i) =>
          call('PATCH', `together/${id}`, { data: { text: 'x'.repeat(i % 3 === 0 ? 200 : 20) } }),
        ),
      );
      expect(answers.map(outcome)).toEqual(
        made.map((_, i) => (i % 3 === 0 ? '403 limit_reached' : 'done')),
      );
    });
  });

  describe('perUser', () => {
    it('bounds what one user owns; a delete gives back, others, visitors and keys are not bound', async () => {
      await setLimits('few', { perUser: 2 }, 'shared');
      const first = await bed.create('few', {}, asUser(ada));
      await bed.create('few', {}, asUser(ada));
      const refused = await create('few');
      expect(outcome(refused)).toBe('403 limit_reached');
      expect(refused.body.error).toBe('You may have at most 2 records in "few": you have 2.');
      expect(outcome(await call('PUT', `few/${uuidv7()}?upsert=1`, { data: {} }))).toBe(
        '403 limit_reached',
      );
      expect(outcome(await call('PUT', `few/${first.id}?upsert=1`, { data: { n: 1 } }))).toBe(
        'done',
      );
      for (const identity of [asUser(bob), asKey(), asOwner(), anonymous()])
        for (let i = 0; i < (identity.caller === 'user' ? 2 : 3); i++)
          expect(outcome(await create('few', identity))).toBe('done');
      expect((await call('DELETE', `few/${first.id}`)).status).toBe(200);
      expect(outcome(await create('few'))).toBe('done');
      expect(outcome(await create('few'))).toBe('403 limit_reached');
    });

    it('counts each of a batch, and none of one that is refused; a batch that deletes may create as many', async () => {
      await setLimits('batches', { perUser: 4 });
      const batch = (creates: number, others: object = {}) =>
        call('POST', 'batches/_batch', {
          create: Array.from({ length: creates }, () => ({ data: {} })),
          ...others,
        });
      expect(outcome(await batch(5))).toBe('403 limit_reached');
      const made = await batch(3);
      expect(outcome(made)).toBe('done');
      expect(outcome(await batch(2))).toBe('403 limit_reached');
      expect(outcome(await batch(1, { update: [{ id: uuidv7(), data: {} }] }))).toBe(
        '404 not_found',
      );
      expect(outcome(await batch(1))).toBe('done');
      const [{ id }] = made.body.create;
      expect(outcome(await batch(2, { delete: [id] }))).toBe('403 limit_reached');
      expect(outcome(await batch(1, { delete: [id] }))).toBe('done');
      expect(await count('batches')).toBe(4);
    });

    it('says nothing else where a delete gives back while a create is refused', async () => {
      await setLimits('churned', { perUser: 3 });
      for (let i = 0; i < 3; i++) await bed.create('churned', {}, asUser(ada));
      const seen = new Set<string>();
      for (let round = 0; round < 15; round++) {
        const { items } = (await call('GET', 'churned')).body;
        const calls = items.flatMap(({ id }: { id: string }) => [
          call('DELETE', `churned/${id}`),
          create('churned'),
          create('churned'),
          call('PUT', `churned/${uuidv7()}?upsert=1`, { data: {} }),
        ]);
        for (const answer of await Promise.all(calls)) seen.add(outcome(answer));
        while ((await count('churned')) < 3) await bed.create('churned', {}, asUser(ada));
      }
      const meant = ['done', '403 limit_reached', '409 conflict'];
      expect([...seen].filter((one) => !meant.includes(one))).toEqual([]);
    });

    it('counts a call that is repeated with its key once', async () => {
      await setLimits('repeated', { perUser: 2 });
      const headers = { 'idempotency-key': 'one' };
      const request = { identity: asUser(ada), headers, body: { data: {} } };
      for (let i = 0; i < 4; i++)
        expect((await bed.call('POST', '/db/repeated', request)).status).toBe(201);
      expect(outcome(await create('repeated'))).toBe('done');
      expect(outcome(await create('repeated'))).toBe('403 limit_reached');
    });

    it('gives back what the owner deletes by a filter, and all where the collection is emptied', async () => {
      await setLimits('emptied', { perUser: 3 });
      for (const n of [1, 2, 3]) await bed.create('emptied', { n }, asUser(ada));
      const where = JSON.stringify({ n: { $lte: 2 } });
      expect(
        (await call('DELETE', `emptied?where=${where}`, undefined, asOwner())).body.count,
      ).toBe(2);
      for (const n of [1, 2]) await bed.create('emptied', { n }, asUser(ada));
      expect(outcome(await create('emptied'))).toBe('403 limit_reached');
      const empty = await bed.call('DELETE', `${path}/emptied?empty=1`, { identity: asOwner() });
      expect(empty.body).toMatchObject({ ok: true, count: 3 });
      for (const n of [1, 2, 3]) await bed.create('emptied', { n }, asUser(ada));
      expect(outcome(await create('emptied'))).toBe('403 limit_reached');
      await bed.call('PATCH', `${path}/emptied`, {
        identity: asOwner(),
        body: { name: 'renamed' },
      });
      expect(outcome(await create('renamed'))).toBe('403 limit_reached');
    });

    it('holds at once where it is set anew lower or higher', async () => {
      await setLimits('moved', { perUser: 3 });
      for (const n of [1, 2, 3]) await bed.create('moved', { n }, asUser(ada));
      await setLimits('moved', { perUser: 1 });
      const refused = await create('moved');
      expect(refused.body.error).toBe('You may have at most one record in "moved": you have 3.');
      const { items } = (await call('GET', 'moved')).body;
      expect((await call('DELETE', `moved/${items[0].id}`)).status).toBe(200);
      expect(outcome(await create('moved'))).toBe('403 limit_reached');
      await setLimits('moved', { perUser: 3 });
      expect(outcome(await create('moved'))).toBe('done');
      expect(outcome(await create('moved'))).toBe('403 limit_reached');
    });

    it('is exact where a user creates on every way at once, in two processes', async () => {
      await setLimits('race', { perUser: 10 });
      const other = await createTestBed({}, {}, { clock, databaseUrl: bed.databaseUrl });
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => {
          const { call } = i % 2 === 0 ? bed : other;
          const identity = asUser(i % 3 === 0 ? bob : ada);
          switch (i % 5) {
            case 0:
              return call('POST', '/db/race/_batch', {
                identity,
                body: { create: [{ data: {} }, { data: {} }] },
              });
            case 1:
              return call('PUT', `/db/race/${uuidv7()}?upsert=1`, { identity, body: { data: {} } });
            default:
              return call('POST', '/db/race', { identity, body: { data: {} } });
          }
        }),
      );
      const known = new Set(['done', '403 limit_reached']);
      expect(answers.map(outcome).filter((one) => !known.has(one))).toEqual([]);
      for (const user of [ada, bob]) {
        const owned = await count('race', { ownerId: user });
        // A batch of two finds no room where there is one, of which nobody else may have been left to make use.
        expect([9, 10]).toContain(owned);
      }
      await other.close();
    });
  });

  describe('perUserPerHour and perAddressPerHour', () => {
    it('bound what is made in an hour, whatever is deleted, and say when the next may be', async () => {
      await setLimits('hourly', { perUserPerHour: 2 });
      const first = await bed.create('hourly', {}, asUser(ada));
      clock.pass(20 * minuteMs);
      await bed.create('hourly', {}, asUser(ada));
      expect((await call('DELETE', `hourly/${first.id}`)).status).toBe(200);
      const refused = await create('hourly');
      expect(outcome(refused)).toBe('429 rate_limited');
      expect(refused.body.error).toMatch(
        /^You may make at most 2 records in "hourly" within an hour: you have made 2\. Try again in (39|40) minutes\.$/,
      );
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeGreaterThan(39 * 60);
      expect(wait).toBeLessThanOrEqual(40 * 60);
      expect(outcome(await create('hourly', asUser(bob)))).toBe('done');
      expect(outcome(await create('hourly', asKey()))).toBe('done');
      clock.pass(41 * minuteMs);
      expect(outcome(await create('hourly'))).toBe('done');
      expect(outcome(await create('hourly'))).toBe('done');
      expect(outcome(await create('hourly'))).toBe('429 rate_limited');
    });

    it('bound the visitors and users of one network address together, and no other address', async () => {
      await setLimits('open', { perAddressPerHour: 3 }, 'shared');
      const [here, there] = ['192.0.2.1', '192.0.2.2'];
      expect(outcome(await create('open', anonymous({ ip: here })))).toBe('done');
      expect(outcome(await create('open', asUser(ada, { ip: here })))).toBe('done');
      expect(outcome(await create('open', asKey({ ip: here })))).toBe('done');
      expect(outcome(await create('open', asUser(bob, { ip: here })))).toBe('done');
      const refused = await create('open', anonymous({ ip: here }));
      expect(outcome(refused)).toBe('429 rate_limited');
      expect(refused.body.error).toContain('yours has made 3');
      expect(outcome(await create('open', asKey({ ip: here })))).toBe('done');
      expect(outcome(await create('open', anonymous({ ip: there })))).toBe('done');
      const kept = await bed.database.query<{ key: string }>('SELECT key FROM record_counts');
      expect(kept.filter(({ key }) => key.includes('192.0'))).toEqual([]);
    });

    it('are exact where many create at once, and say at once that a batch takes more than an hour', async () => {
      await setLimits('burst', { perAddressPerHour: 5, perUserPerHour: 100 }, 'shared');
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => create('burst', i % 2 ? anonymous() : asUser(ada))),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
      expect(answers.filter((one) => outcome(one) === '429 rate_limited')).toHaveLength(15);
      const batch = { create: Array.from({ length: 6 }, () => ({ data: {} })) };
      const elsewhere = asUser(ada, { ip: '192.0.2.3' });
      expect(outcome(await call('POST', 'burst/_batch', batch, elsewhere))).toBe(
        '403 limit_reached',
      );
    });

    it('leave no row behind once the hour is over', async () => {
      clock.pass(120 * minuteMs);
      await setLimits('quiet', { perAddressPerHour: 5, perUser: 1 }, 'shared');
      const made = await bed.create('quiet', {}, asUser(ada));
      await call('DELETE', `quiet/${made.id}`);
      clock.pass(61 * minuteMs);
      await forgetCounts(bed.database, clock.now);
      const rows = await bed.database.query(
        `SELECT FROM record_counts JOIN collections USING (project_id, coll_id)
         WHERE name = 'quiet' OR ends_at < $1`,
        [new Date(clock.now())],
      );
      expect(rows).toEqual([]);
      expect(outcome(await create('quiet'))).toBe('done');
      expect(outcome(await create('quiet'))).toBe('403 limit_reached');
    });
  });
});
