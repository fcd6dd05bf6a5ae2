import { authRoutes, type SignInEvent } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, hourMs, otherProject, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const users = '/platform/projects/testproject/users';

describe('events of a sign-in', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  refusesStrangers(
    authRoutes.listMyEvents,
    () => bed.http,
    () => ({ path: '/auth/events' }),
  );
  refusesStrangers(
    authRoutes.listUserEvents,
    () => bed.http,
    () => ({ path: `/projects/testproject/users/${unknownId}/events` }),
  );

  const events = async (identity: Identity, query = '') =>
    (await bed.call('GET', `/auth/events${query}`, { identity })).body;
  const failed = async (identity: Identity): Promise<SignInEvent[]> =>
    (await events(identity, '?limit=100')).items.filter(
      ({ kind }: SignInEvent) => kind === 'failed',
    );
  const fail = (email: string, ip = '198.51.100.7') => bed.signIn({ email, password: 'wrong' }, ip);
  /** Networks and how often, once all that failed is written. */
  const written = async (identity: Identity, times: number) => {
    let found: SignInEvent[] = [];
    await until(async () => {
      found = await failed(identity);
      return found.reduce((sum, event) => sum + event.times, 0) === times;
    });
    return found.map((event) => [event.network, event.times]).sort();
  };

  it('are listed to the user and the owner, and to nobody else', async () => {
    const { user, identity, password } = await bed.signUp();
    const from = { ...identity, ip: '198.51.100.77', userAgent: 'curl/8.5.0' };
    const body = { currentPassword: password, newPassword: 'another good password' };
    expect((await bed.call('POST', '/auth/password', { identity: from, body })).status).toBe(200);
    const [changed] = (await events(identity)).items;
    expect(changed).toMatchObject({
      kind: 'password_changed',
      detail: null,
      device: 'curl',
      network: '198.51.100.0/24',
      times: 1,
    });
    const path = `${users}/${user.id}/events`;
    const asked = await bed.call('GET', path, { identity: asOwner() });
    expect(asked.body).toEqual(await events(identity));
    expect((await bed.call('GET', path, { identity: asKey() })).status).toBe(403);
    for (const id of [unknownId, 'nonsense'])
      expect((await bed.call('GET', `${users}/${id}/events`, { identity: asOwner() })).status).toBe(
        404,
      );
    const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
    expect((await bed.call('GET', path, { identity: elsewhere })).status).toBe(404);
    const other = await bed.signUp({ project: otherProject });
    expect(JSON.stringify(await events(other.identity))).not.toContain(changed.id);
    const stranger = { ...other.identity, userId: user.id };
    expect((await bed.call('GET', '/auth/events', { identity: stranger })).status).toBe(401);
  });

  it('count failed attempts of one network within an hour as one', async () => {
    const { email, identity } = await bed.signUp();
    for (let n = 0; n < 3; n++) await fail(email, `198.51.100.${n}`);
    await fail(email, '203.0.113.9');
    const [here, there] = ['198.51.100.0/24', '203.0.113.0/24'];
    expect(await written(identity, 4)).toEqual([
      [here, 3],
      [there, 1],
    ]);
    bed.clock.pass(hourMs / 2);
    await fail(email);
    expect(await written(identity, 5)).toEqual([
      [here, 4],
      [there, 1],
    ]);
    bed.clock.pass(hourMs);
    await fail(email);
    expect(await written(identity, 6)).toEqual([
      [here, 1],
      [here, 4],
      [there, 1],
    ]);
  });

  it('are no more than 50 of failed attempts, which push nothing else out', async () => {
    const { email, identity } = await bed.signUp();
    await bed.call('POST', '/auth/signout', { identity: (await signedIn(email)).identity });
    for (let n = 0; n < 55; n++) {
      if (n % 5 === 0) bed.clock.pass(hourMs / 4);
      await fail(email, `203.0.${n}.1`);
    }
    await until(async () =>
      (await failed(identity)).some(({ network }) => network === '203.0.54.0/24'),
    );
    expect(await failed(identity)).toHaveLength(50);
    const { items } = await events(identity, '?limit=100');
    expect(items.map(({ kind }: SignInEvent) => kind)).toContain('signed_out');
  });

  it('are no more than 150 of sign-ins, which push no change out', async () => {
    const person = await bed.signUp();
    const body = { currentPassword: person.password, newPassword: person.password };
    await bed.call('POST', '/auth/password', { identity: person.identity, body });
    for (let n = 0; n < 151; n++) await bed.signIn(person);
    const { identity } = await signedIn(person.email);
    const first = await events(identity, '?limit=100');
    const second = await events(identity, `?limit=100&cursor=${first.nextCursor}`);
    const items = [...first.items, ...second.items];
    const kinds = items.map(({ kind }: SignInEvent) => kind);
    expect(kinds.filter((kind: string) => kind === 'signed_in')).toHaveLength(150);
    expect(kinds.at(-1)).toBe('password_changed');
    expect(items[0]).toMatchObject({ kind: 'signed_in', detail: 'password' });
  });

  it('are listed page by page', async () => {
    const { email, identity } = await bed.signUp();
    for (let n = 0; n < 3; n++) await fail(email, `203.0.${n}.1`);
    await written(identity, 3);
    const all = (await events(identity)).items;
    const first = await events(identity, '?limit=2');
    expect(first).toMatchObject({ items: all.slice(0, 2), hasMore: true });
    const rest = await events(identity, `?limit=100&cursor=${first.nextCursor}`);
    expect(rest.items).toEqual(all.slice(2));
    const other = await bed.signUp();
    expect((await events(other.identity, `?cursor=${first.nextCursor}`)).code).toBe(
      'invalid_cursor',
    );
  });

  it('go after 90 days, and with their user', async () => {
    const [old, erased] = [await bed.signUp(), await bed.signUp()];
    await fail(old.email);
    await fail(erased.email);
    await written(old.identity, 1);
    await written(erased.identity, 1);
    await bed.call('DELETE', '/auth/me', { identity: erased.identity });
    const count = async (id: string) =>
      (await bed.database.query('SELECT FROM sign_in_events WHERE user_id = $1', [id])).length;
    expect(await count(erased.user.id)).toBe(0);
    expect(await count(old.user.id)).toBeGreaterThan(0);
    bed.clock.pass(90 * dayMs);
    const process = bed.another();
    await process.start();
    await until(async () => (await count(old.user.id)) === 0);
    await process.stop();
  });

  const signedIn = async (email: string) => {
    const { body } = await bed.signIn({ email, password: 'correct horse battery staple' });
    return { identity: bed.readIdentity(body.token) };
  };
});
