import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createFakeDirectories } from '../testing/test-bed.ts';
import { createSigningKeys } from './signing-keys.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('fetches the keys for an unknown id, but not again within seconds', async () => {
  let now = 0;
  const published = [{ kid: 'k1', publicKey }];
  const { sessions, asked } = createFakeDirectories(published);
  const keys = createSigningKeys(sessions, () => now);
  const both = await Promise.all([keys.find('k1'), keys.find('k1')]);
  expect(both.every((key) => key?.equals(publicKey))).toBe(true);
  for (let n = 0; n < 10; n++) expect(await keys.find(`made-up-${n}`)).toBeNull();
  expect(asked).toEqual(['jwks']);
  published.push({ kid: 'k2', publicKey });
  now += 5000;
  expect(await keys.find('k2')).not.toBeNull();
  expect(asked).toEqual(['jwks', 'jwks']);
});

it('forgets a key that is no longer published, within five seconds', async () => {
  let now = 0;
  const published = [{ kid: 'k1', publicKey }];
  const keys = createSigningKeys(createFakeDirectories(published).sessions, () => now);
  expect(await keys.find('k1')).not.toBeNull();
  published.length = 0;
  now += 5000;
  expect(await keys.find('k1')).toBeNull();
});

it('goes on with the keys it has while they can not be fetched', async () => {
  let now = 0;
  const { sessions } = createFakeDirectories([{ kid: 'k1', publicKey }]);
  let isDown = false;
  const jwks = () => (isDown ? Promise.reject(new Error('down')) : sessions.jwks());
  const keys = createSigningKeys({ ...sessions, jwks }, () => now);
  await keys.find('k1');
  isDown = true;
  now += 600_000;
  expect(await keys.find('k1')).not.toBeNull();
  await expect(keys.find('k2')).rejects.toMatchObject({ code: 'unavailable' });
});

it('asks for fresh keys while those it has serve', async () => {
  let now = 0;
  const { sessions, asked } = createFakeDirectories([{ kid: 'k1', publicKey }]);
  const keys = createSigningKeys(sessions, () => now);
  await keys.find('k1');
  now += 1999;
  await keys.find('k1');
  expect(asked).toHaveLength(1);
  now += 1;
  await Promise.all(Array.from({ length: 20 }, () => keys.find('k1')));
  expect(asked).toHaveLength(2);
});

it('waits no longer than a moment for an auth service that hangs, and once', async () => {
  let now = 0;
  const { sessions } = createFakeDirectories([{ kid: 'k1', publicKey }]);
  let tries = 0;
  const jwks = () => (tries++ === 0 ? sessions.jwks() : new Promise<never>(() => {}));
  const keys = createSigningKeys({ ...sessions, jwks }, () => now);
  await keys.find('k1');
  now += 60_000;
  expect(await keys.find('k1')).not.toBeNull();
  now += 501;
  const answers = Array.from({ length: 20 }, () => keys.find('k1'));
  for (const answer of await Promise.all(answers)) expect(answer).not.toBeNull();
  expect(tries).toBe(2);
});
