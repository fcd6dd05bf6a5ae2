import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { personalKind } from './personal-values.ts';

describe('what a value looks like', () => {
  it.each([
    ['email', 'ada@example.org'],
    ['email', ' Ada.Lovelace+list@mail.example.co.uk '],
    ['email', { contact: { address: 'ada@example.org' } }],
    ['email', [1, 'ada@example.org']],
    ['phone', '+49 30 1234567'],
    ['phone', '+1 (415) 555-0132'],
    ['phone', '030/123 45 67'],
    ['card', '4242 4242 4242 4242'],
    ['card', '5555555555554444'],
    ['secret', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln'],
    ['secret', `sk_${'live'}_${'a1B2c3D4e5'.repeat(2)}`],
    ['secret', '$2b$12$abcdefghijklmnopqrstuv'],
    ['secret', '-----BEGIN EC PRIVATE KEY-----'],
  ])('is %s: %j', (kind, value) => {
    expect(personalKind(value)).toBe(kind);
  });

  it.each([
    'Write to ada@example.org soon',
    '@ada',
    'ada@localhost',
    '2026-11-27',
    '2026-11-27T10:00:00.000Z',
    '12345678',
    '0123456789',
    '10.5',
    '192.168.100.200',
    '018f0000-0000-7000-8000-0000000000a1',
    '4242 4242 4242 4243',
    '1700000000000',
    'https://example.org/a/b?c=d',
    'skateboard',
    '',
    null,
    4242,
    true,
    { title: 'Buy milk', tags: ['a', 'b'] },
  ])('is nothing personal: %j', (value) => {
    expect(personalKind(value)).toBeUndefined();
  });

  it('is found out in time, whatever it is', () => {
    const deep = (depth: number): unknown => (depth === 0 ? 'x' : { a: deep(depth - 1) });
    for (const value of ['0'.repeat(1_000_000), '+1'.repeat(2000), 'a@'.repeat(2000), deep(16)])
      expect(personalKind(value)).toBeUndefined();
  });
});

describe('advice about what everybody can read', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const path = `/platform/projects/${testProject.id}/collections`;
  const hintOf = async (address: string, identity = anonymous()) =>
    (await bed.call('GET', address, { identity })).headers.get('backlot-hint');
  const setAccess = (name: string, access: unknown) =>
    bed.call('PUT', `${path}/${name}`, { identity: asOwner(), body: { access } });
  const adviceOn = async (name: string) => {
    const { items } = (await bed.call('GET', path, { identity: asOwner() })).body;
    return items.find((item: { name: string }) => item.name === name).advice;
  };
  const untilAdvised = (name: string) => until(async () => (await adviceOn(name)) !== undefined);

  it('names the fields by what is in them, whatever the collection is called', async () => {
    const { id } = await bed.create('things', { reach: 'ada@example.org', n: 1 }, asUser(ada));
    await untilAdvised('things');
    for (const address of ['', '/_count', `/${id}`]) {
      const hint = await hintOf(`/db/things${address}`);
      expect(hint).toContain('Anyone can read "reach" of "things": e-mail addresses');
      expect(hint).toMatch(/^[\x20-\x7e]{1,900}$/);
    }
    await bed.create('orders', { total: 3, title: 'Tea' });
    expect(await hintOf('/db/orders')).toBeNull();
  });

  it('ends when it is followed, and the app goes on reading the other fields', async () => {
    await bed.create('bookings', { email: 'ada@example.org', day: '2026-11-27' }, asUser(ada));
    await untilAdvised('bookings');
    const rules = /PUT \S+ (\{.*\})$/.exec((await hintOf('/db/bookings')) ?? '')?.[1] ?? '{}';
    const { access } = JSON.parse(rules);
    expect((await setAccess('bookings', access)).status).toBe(200);
    expect(await hintOf('/db/bookings')).toBeNull();
    expect(await adviceOn('bookings')).toBeUndefined();
    const { items } = (await bed.call('GET', '/db/bookings')).body;
    expect(items).toMatchObject([{ day: '2026-11-27' }]);
    expect(items[0]).not.toHaveProperty('email');
    const own = await bed.call('GET', '/db/bookings', { identity: asUser(ada) });
    expect(own.body.items[0].email).toBe('ada@example.org');
  });

  it('comes with every way of writing, and not where strangers can not read', async () => {
    const data = { phone: '+49 30 1234567' };
    const make = async (name: string) => {
      const { id } = await bed.create(name, { n: 1 });
      return `/db/${name}/${id}`;
    };
    await bed.call('PATCH', await make('patched'), { body: { data } });
    await bed.call('PUT', await make('replaced'), { body: { data } });
    await bed.call('POST', '/db/batched/_batch', { body: { create: [{ data }] } });
    for (const name of ['patched', 'replaced', 'batched']) {
      await untilAdvised(name);
      await setAccess(name, 'private');
      expect(await hintOf(`/db/${name}`, asKey())).toBeNull();
      expect(await adviceOn(name)).toBeUndefined();
    }
    await setAccess('patched', { read: ['anyone'], create: [], change: [] });
    expect(await adviceOn('patched')).toContain('phone numbers');
    const fields = { phone: { read: ['role:staff'] } };
    await setAccess('patched', { read: ['anyone'], create: [], change: [], fields });
    expect(await adviceOn('patched')).toBeUndefined();
  });
});
