import { authRoutes } from '@backlot/contract';
import { anonymous, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  minuteMs,
  otherProject,
  type Person,
  type TestBed,
} from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const firefox =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0';

describe('the own sessions', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  for (const [route, path] of [
    [authRoutes.listMySessions, '/auth/sessions'],
    [authRoutes.endOtherSessions, '/auth/sessions'],
    [authRoutes.endMySession, `/auth/sessions/${unknownId}`],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path }),
    );

  const list = async ({ identity }: Pick<Person, 'identity'>) =>
    (await bed.call('GET', '/auth/sessions', { identity })).body.items;
  const end = (id: string, { identity }: Person) =>
    bed.call('DELETE', `/auth/sessions/${id}`, { identity });
  const signInFrom = async ({ email, password }: Person) => {
    const identity = anonymous({ ip: '2001:db8:1:2::/64', userAgent: firefox });
    const { body } = await bed.call('POST', '/auth/signin', {
      identity,
      body: { email, password },
    });
    return bed.readIdentity(body.token);
  };

  it('tell device, network, how they began and which one asks, newest first', async () => {
    const person = await bed.signUp();
    const second = await signInFrom(person);
    const items = await list(person);
    expect(items).toMatchObject([
      {
        id: second.sessionId,
        device: 'Firefox on macOS',
        network: '2001:db8:1::/48',
        method: 'password',
        isCurrent: false,
      },
      {
        id: person.sessionId,
        device: null,
        network: '192.0.2.0/24',
        method: 'sign-up',
        isCurrent: true,
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('192.0.2.1');
    const asked = { identity: asOwner() };
    const path = `/platform/projects/testproject/users/${person.user.id}`;
    const { items: shown } = (await bed.call('GET', `${path}/sessions`, asked)).body;
    expect(shown[0]).toMatchObject({ device: 'Firefox on macOS', network: '2001:db8:1::/48' });
    const { body: exported } = await bed.call('GET', `${path}/export`, asked);
    expect(exported.sessions[0]).toMatchObject({ device: 'Firefox on macOS' });
    expect(exported.signInEvents.map(({ kind }: { kind: string }) => kind)).toEqual([
      'signed_in',
      'signed_in',
    ]);
  });

  it('tell when they were last used', async () => {
    const person = await bed.signUp();
    const lastUsed = async () => (await list(person))[0].lastUsedAt;
    expect(await lastUsed()).toBe(new Date(bed.clock.now()).toISOString());
    bed.clock.pass(20 * minuteMs);
    const process = bed.another();
    await process.start();
    await process.directories.sessions.findSession(1001, person.sessionId);
    await process.directories.sessions.findSession(1001, unknownId);
    await process.stop();
    expect(await lastUsed()).toBe(new Date(bed.clock.now()).toISOString());
  });

  it('end one by one, of this user alone', async () => {
    const [person, other] = [await bed.signUp(), await bed.signUp()];
    const elsewhere = await bed.signUp({ project: otherProject });
    const second = await signInFrom(person);
    for (const id of [other.sessionId, elsewhere.sessionId, unknownId, 'nonsense'])
      expect(await end(id, person)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await end(String(second.sessionId), person)).status).toBe(200);
    expect((await bed.call('GET', '/auth/me', { identity: second })).status).toBe(401);
    expect((await end(person.sessionId, person)).status).toBe(200);
    expect((await bed.call('GET', '/auth/me', person)).status).toBe(401);
    expect(await list(other)).toHaveLength(1);
  });

  it('end together, but for the one that asks', async () => {
    const [person, other] = [await bed.signUp(), await bed.signUp()];
    await signInFrom(person);
    await signInFrom(person);
    const { status } = await bed.call('DELETE', '/auth/sessions', { identity: person.identity });
    expect(status).toBe(200);
    expect((await list(person)).map(({ id }: { id: string }) => id)).toEqual([person.sessionId]);
    expect(await list(other)).toHaveLength(1);
    const { items } = (await bed.call('GET', '/auth/events', { identity: person.identity })).body;
    expect(items[0]).toMatchObject({ kind: 'signed_out', detail: 'everywhere else' });
  });
});
