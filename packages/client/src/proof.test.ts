import { pbkdf2Sync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { clientWith, json } from './testing/recorded-client.ts';

const account = { email: 'ada@example.org', password: 'a good long password' };
const parameters = {
  algorithm: 'PBKDF2/SHA-256',
  nonce: '000102030405060708090a0b0c0d0e0f',
  salt: 'ff',
  cost: 2,
  keyLength: 32,
  keyPrefix: '0',
};
const asked = json(
  { code: 'proof_of_work_needed', error: 'Solve it.', challenge: { parameters, signature: 'aa' } },
  428,
);
const readProof = (header: string | undefined) => JSON.parse(atob(String(header)));

it('is sent with the same call where one is asked for', async () => {
  const { client, sent } = clientWith([asked, json({ token: 'one', user: { id: 'x' } })], {
    retries: 0,
  });
  expect(await client.auth.signIn(account)).toEqual({ id: 'x' });
  expect(sent.map(({ path }) => path)).toEqual(['/auth/signin', '/auth/signin']);
  const [first, second] = sent.map(({ headers }) => headers);
  expect(first).not.toHaveProperty('Backlot-Proof');
  expect(second?.['Idempotency-Key']).toBe(first?.['Idempotency-Key']);
  const { challenge, solution } = readProof(second?.['Backlot-Proof']);
  expect(challenge).toEqual({ parameters, signature: 'aa' });
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(solution.counter);
  const password = Buffer.concat([Buffer.from(parameters.nonce, 'hex'), counter]);
  const key = pbkdf2Sync(password, Buffer.from('ff', 'hex'), 2, 32, 'sha256').toString('hex');
  expect(solution.derivedKey).toBe(key);
  expect(key).toMatch(/^0/);
});

it('is solved no more often than calls are repeated', async () => {
  const { client, sent } = clientWith([asked], { retries: 1 });
  await expect(client.auth.signIn(account)).rejects.toMatchObject({
    status: 428,
    code: 'proof_of_work_needed',
    challenge: { parameters },
  });
  expect(sent).toHaveLength(3);
});
