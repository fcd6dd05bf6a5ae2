import { createPublicKey, type webcrypto } from 'node:crypto';
import type { SealCounts } from '@backlot/contract';
import { createSealer } from '@backlot/sealing';
import { anonymous } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import {
  createTestBed,
  dayMs,
  goodPassword,
  hourMs,
  minuteMs,
  type Person,
  type Process,
  type TestBed,
} from '../testing/test-bed.ts';

const readKid = (token: string) => String(jwt.decode(token, { complete: true })?.header.kid);

describe('signing keys', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const published = async (): Promise<(webcrypto.JsonWebKey & { kid: string })[]> =>
    (await bed.call('GET', '/auth/.well-known/jwks.json', { identity: anonymous() })).body.keys;
  const kids = async () => (await published()).map(({ kid }) => kid);
  const verifies = async (token: string) => {
    const jwk = (await published()).find(({ kid }) => kid === readKid(token));
    if (!jwk) return false;
    jwt.verify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      algorithms: ['ES256'],
      clockTimestamp: Math.floor(bed.clock.now() / 1000),
    });
    return true;
  };

  it('publish the next key long before it signs', async () => {
    const before = await kids();
    bed.clock.pass(90 * dayMs);
    const { token } = await bed.signUp();
    expect(before).toContain(readKid(token));
    expect(readKid(token)).toBe(before[1]);
  });

  it('rotate after 90 days: old tokens still verify, new ones carry another kid, the next is published', async () => {
    const first = await bed.signUp();
    bed.clock.pass(90 * dayMs - minuteMs);
    const old = await bed.signUp();
    expect(readKid(old.token)).toBe(readKid(first.token));
    bed.clock.pass(minuteMs);
    const fresh = await bed.signUp();
    expect(readKid(fresh.token)).not.toBe(readKid(old.token));
    expect(await kids()).toHaveLength(3);
    expect(await verifies(old.token)).toBe(true);
    expect(await verifies(fresh.token)).toBe(true);
    bed.clock.pass(30 * dayMs - 2 * minuteMs);
    expect(await verifies(old.token)).toBe(true);
  });

  it('publish a retired key until its last token has expired', async () => {
    const old = await bed.signUp();
    bed.clock.pass(90 * dayMs);
    await bed.signUp();
    bed.clock.pass(30 * dayMs + hourMs);
    expect(await kids()).not.toContain(readKid(old.token));
    expect(await kids()).toHaveLength(2);
  });

  it('are made and rotated once, however many processes do it at the same time', async () => {
    await bed.database.query('DELETE FROM signing_keys');
    const processes = Array.from({ length: 4 }, () => bed.another());
    const rings = async () =>
      new Set(
        (await Promise.all(processes.map(({ directories }) => directories.sessions.jwks()))).map(
          (jwks) => JSON.stringify(jwks),
        ),
      );
    expect((await rings()).size).toBe(1);
    bed.clock.pass(90 * dayMs);
    expect((await rings()).size).toBe(1);
    const states = await bed.database.query('SELECT state FROM signing_keys ORDER BY state');
    expect(states).toEqual([{ state: 'current' }, { state: 'next' }, { state: 'retired' }]);
  });

  it('reach a process that did not rotate within a minute', async () => {
    const other = bed.another();
    bed.clock.pass(90 * dayMs);
    await published();
    bed.clock.pass(90 * dayMs - 30_000);
    await other.directories.sessions.jwks();
    bed.clock.pass(minuteMs);
    const { token } = await bed.signUp();
    expect((await other.directories.sessions.jwks()).keys.map(({ kid }) => kid)).toContain(
      readKid(token),
    );
  });

  it('are sealed at rest', async () => {
    await bed.signUp();
    const [row] = await bed.database.query<{ sealed: string }>(
      "SELECT encode(sealed_private_key, 'base64') AS sealed FROM signing_keys WHERE state = 'current'",
    );
    expect(Buffer.from(row?.sealed ?? '', 'base64').includes('PRIVATE')).toBe(false);
  });
});

describe('another master key', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const newKey = { masterKeys: [Buffer.alloc(32, 9)] };
  const statuses = async (person: Person, processes: Process[]) =>
    (await Promise.all(processes.map(({ signIn }) => signIn(person)))).map(({ status }) => status);

  it('in front of the old one: old tokens hold, everybody signs in everywhere, and nothing is lost once all is sealed again', async () => {
    const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)];
    const person = await bed.signUp();
    const old = await bed.startProcess({});
    const both = await bed.startProcess({ masterKeys: [newer, older] });
    expect(await statuses(person, [old, both])).toEqual([200, 200]);
    expect(await both.kids()).toContain(readKid(person.token));
    expect(await both.kids()).toEqual(await old.kids());
    const { operations } = both;
    const [newerId, olderId] = createSealer([newer, older]).keyNames.map((n) => n.toString('hex'));
    const signingKeys = ({ keys }: SealCounts) =>
      keys.filter(({ setting }) => setting === 'BACKLOT_AUTH_MASTER_KEY');
    const counts = await operations.countSealed();
    expect(counts).toMatchObject({ old: 2, lost: 0 });
    expect(signingKeys(counts)).toMatchObject([
      { keyId: newerId, state: 'current', sealed: 0 },
      { keyId: olderId, state: 'old', sealed: 2 },
    ]);
    expect(signingKeys(await old.operations.countSealed())).toMatchObject([
      { keyId: olderId, state: 'current', sealed: 2 },
    ]);
    expect(await operations.reseal()).toMatchObject({ resealed: 2, old: 0, lost: 0 });
    expect(await operations.reseal()).toMatchObject({ resealed: 0, old: 0, lost: 0 });
    expect(signingKeys(await old.operations.countSealed())).toMatchObject([
      { keyId: olderId, state: 'current', sealed: 0 },
      { keyId: null, state: 'lost', sealed: 2 },
    ]);
    const alone = await bed.startProcess({ masterKeys: [newer] });
    expect(await statuses(person, [both, alone])).toEqual([200, 200]);
    expect(await alone.kids()).toContain(readKid(person.token));
    expect([...both.logged, ...alone.logged]).toEqual([]);
  });

  it('makes new keys: old tokens verify no longer, and everybody can sign in again', async () => {
    const person = await bed.signUp();
    const restarted = await bed.startProcess(newKey);
    const { status, body } = await restarted.signIn(person);
    expect(status).toBe(200);
    const kids = await restarted.kids();
    expect(kids).toHaveLength(2);
    expect(kids).toContain(readKid(body.token));
    expect(kids).not.toContain(readKid(person.token));
    expect(restarted.logged).toHaveLength(1);
    bed.clock.pass(90 * dayMs);
    expect(await statuses(person, [restarted])).toEqual([200]);
    expect(restarted.logged).toHaveLength(1);
  });

  it('makes them once, however many processes bring it while others still have the old one', async () => {
    const person = await bed.signUp();
    const old = await bed.startProcess({});
    bed.clock.pass(minuteMs);
    const [, ...fresh] = await Promise.all([
      old.kids(),
      ...Array.from({ length: 4 }, () => bed.startProcess(newKey)),
    ]);
    const restarted = await bed.startProcess({});
    const kids = await fresh[0]?.kids();
    for (let round = 0; round < 10; round++) {
      bed.clock.pass(minuteMs);
      expect(await statuses(person, [old, ...fresh, restarted])).toEqual([
        503, 200, 200, 200, 200, 503,
      ]);
      for (const process of [old, ...fresh, restarted]) expect(await process.kids()).toEqual(kids);
    }
    expect(fresh.flatMap(({ logged }) => logged)).toHaveLength(1);
    expect(old.logged).toHaveLength(1);
    expect(restarted.logged).toHaveLength(1);
  });

  it('signs again when it is restored and the other one is no longer in use', async () => {
    const person = await bed.signUp();
    const mistaken = await bed.startProcess(newKey);
    const restored = await bed.startProcess({});
    bed.clock.pass(5 * minuteMs);
    expect(await statuses(person, [restored])).toEqual([200]);
    bed.clock.pass(minuteMs);
    const sessions = await bed.database.query('SELECT id FROM sessions');
    expect(await statuses(person, [mistaken])).toEqual([503]);
    expect(await bed.database.query('SELECT id FROM sessions')).toEqual(sessions);
    expect(await statuses(person, [restored])).toEqual([200]);
  });

  it('leaves no account of a sign-up that gets no token', async () => {
    await bed.service.directories.sessions.jwks();
    await bed.startProcess(newKey);
    bed.clock.pass(minuteMs);
    const answer = await bed.call('POST', '/auth/signup', {
      identity: anonymous(),
      body: { email: 'nobody@example.org', password: goodPassword },
    });
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await bed.database.query('SELECT id FROM users')).toEqual([]);
  });
});
