import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestBed, dayMs, hourMs, minuteMs, type TestBed } from './test-bed.ts';

describe('signing keys', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const published = async (): Promise<(JsonWebKey & { kid: string })[]> =>
    (await bed.call('GET', '/auth/.well-known/jwks.json', { identity: anonymous() })).body.keys;
  const kids = async () => (await published()).map(({ kid }) => kid);
  const kidOf = (token: string) => String(jwt.decode(token, { complete: true })?.header.kid);
  const verifies = async (token: string) => {
    const jwk = (await published()).find(({ kid }) => kid === kidOf(token));
    if (!jwk) return false;
    jwt.verify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      algorithms: ['ES256'],
      clockTimestamp: Math.floor(bed.now() / 1000),
    });
    return true;
  };

  it('publish the next key long before it signs', async () => {
    const before = await kids();
    bed.pass(90 * dayMs);
    const { token } = await bed.signUp();
    expect(before).toContain(kidOf(token));
    expect(kidOf(token)).toBe(before[1]);
  });

  it('rotate after 90 days: old tokens still verify, new ones carry another kid, the next is published', async () => {
    const first = await bed.signUp();
    bed.pass(90 * dayMs - minuteMs);
    const old = await bed.signUp();
    expect(kidOf(old.token)).toBe(kidOf(first.token));
    bed.pass(minuteMs);
    const fresh = await bed.signUp();
    expect(kidOf(fresh.token)).not.toBe(kidOf(old.token));
    expect(await kids()).toHaveLength(3);
    expect(await verifies(old.token)).toBe(true);
    expect(await verifies(fresh.token)).toBe(true);
    bed.pass(30 * dayMs - 2 * minuteMs);
    expect(await verifies(old.token)).toBe(true);
  });

  it('publish a retired key until its last token has expired', async () => {
    const old = await bed.signUp();
    bed.pass(90 * dayMs);
    await bed.signUp();
    bed.pass(30 * dayMs + hourMs);
    expect(await kids()).not.toContain(kidOf(old.token));
    expect(await kids()).toHaveLength(2);
  });

  it('are made and rotated once, however many processes do it at the same time', async () => {
    await bed.database.query('TRUNCATE signing_keys');
    const processes = Array.from({ length: 4 }, () => bed.another());
    const rings = async () =>
      new Set(
        (await Promise.all(processes.map(({ sessions }) => sessions.jwks()))).map((jwks) =>
          JSON.stringify(jwks),
        ),
      );
    expect((await rings()).size).toBe(1);
    bed.pass(90 * dayMs);
    expect((await rings()).size).toBe(1);
    const states = await bed.database.query('SELECT state FROM signing_keys ORDER BY state');
    expect(states).toEqual([{ state: 'current' }, { state: 'next' }, { state: 'retired' }]);
  });

  it('reach a process that did not rotate within a minute', async () => {
    const other = bed.another();
    bed.pass(90 * dayMs);
    await published();
    bed.pass(90 * dayMs - 30_000);
    await other.sessions.jwks();
    bed.pass(minuteMs);
    const { token } = await bed.signUp();
    expect((await other.sessions.jwks()).keys.map(({ kid }) => kid)).toContain(kidOf(token));
  });

  it('are sealed at rest and do not open under another master key', async () => {
    await bed.signUp();
    const [row] = await bed.database.query<{ sealed: string }>(
      "SELECT encode(sealed_private_key, 'base64') AS sealed FROM signing_keys WHERE state = 'current'",
    );
    expect(Buffer.from(row?.sealed ?? '', 'base64').includes('PRIVATE')).toBe(false);
    const stranger = bed.another({ masterKey: Buffer.alloc(32, 9) });
    await expect(stranger.start()).rejects.toThrow('sealed under another master key');
  });
});
