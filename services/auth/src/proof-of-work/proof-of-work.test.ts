import type { IdentityProject } from '@backlot/identity';
import { anonymous, testProject } from '@backlot/testing';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import {
  createTestBed,
  goodPassword,
  hourMs,
  minuteMs,
  otherProject,
  type TestBed,
} from '../testing/test-bed.ts';

interface Asked {
  path?: string;
  ip?: string;
  email?: string;
  password?: string;
  proof?: string | undefined;
  project?: IdentityProject;
}

let addresses = 0;

describe('a proof of work', () => {
  let bed: TestBed;
  const beds: TestBed[] = [];
  beforeEach(async () => {
    bed = await createTestBed({
      limits: {
        signInPerIp: { max: 30, windowMs: 15 * minuteMs, proofFrom: 2 },
        signUpPerIp: { max: 30, windowMs: hourMs, proofFrom: 2 },
      },
    });
    beds.push(bed);
  });
  afterAll(async () => {
    for (const each of beds) await each.close();
  });

  const call = ({
    path = '/auth/signin',
    ip = '198.51.100.1',
    email = `nobody${++addresses}@example.org`,
    password = goodPassword,
    proof,
    project = testProject,
  }: Asked = {}) =>
    bed.call('POST', path, {
      identity: anonymous({ ip, project }),
      body: { email, password },
      ...(proof !== undefined && { headers: { 'backlot-proof': proof } }),
    });
  /** The answers of so many calls. */
  const statuses = async (count: number, asked: Asked = {}) => {
    const found: number[] = [];
    for (let n = 0; n < count; n++) found.push((await call(asked)).status);
    return found;
  };
  const solve = async (challenge: Challenge) => {
    const solution = await solveChallenge({ challenge, deriveKey });
    return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64url');
  };
  const solved = async (asked: Asked = {}) => {
    const { status, body } = await call(asked);
    expect([status, body.code]).toEqual([428, 'proof_of_work_needed']);
    return solve(body.challenge);
  };

  it('is asked of an address from which more have failed, and lets a call through', async () => {
    const person = await bed.signUp({ ip: '203.0.113.1' });
    expect(await statuses(3)).toEqual([401, 401, 428]);
    expect((await call({ proof: await solved() })).status).toBe(401);
    const { email, password } = person;
    const proof = await solved({ email, password });
    expect((await call({ email, password, proof })).status).toBe(200);
    // From where the account has signed in before, others' failures ask nothing of it.
    expect((await call({ email, password })).status).toBe(200);
    expect((await call({ ip: '203.0.113.77' })).status).toBe(401);
  });

  it('is asked of an address from which more have signed up', async () => {
    const path = '/auth/signup';
    expect(await statuses(3, { path })).toEqual([201, 201, 428]);
    const proof = await solved({ path });
    expect((await call({ path, proof })).status).toBe(201);
    expect(await statuses(1, { path, ip: '203.0.113.77' })).toEqual([201]);
  });

  it('is asked of a network from which very many have failed', async () => {
    for (let n = 1; n <= 4; n++)
      expect(await statuses(2, { ip: `198.51.100.${n}` })).toEqual([401, 401]);
    expect(await statuses(1, { ip: '198.51.100.99' })).toEqual([428]);
    expect(await statuses(1, { ip: '198.51.99.1' })).toEqual([401]);
  });

  it('is good once, of many calls at once too', async () => {
    await statuses(2);
    const proof = await solved();
    const answers = await Promise.all(Array.from({ length: 12 }, () => call({ proof })));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      401,
      ...Array.from({ length: 11 }, () => 428),
    ]);
    expect((await call({ proof })).status).toBe(428);
  });

  it('is good for its call, address and project alone, and for five minutes', async () => {
    await statuses(2);
    await statuses(2, { ip: '203.0.113.1' });
    await statuses(2, { project: otherProject });
    await statuses(2, { path: '/auth/signup' });
    const proof = await solved();
    for (const other of [
      { ip: '203.0.113.1' },
      { project: otherProject },
      { path: '/auth/signup' },
    ])
      expect((await call({ ...other, proof })).body.code).toBe('proof_of_work_needed');
    const late = await solved();
    bed.clock.pass(5 * minuteMs);
    expect((await call({ proof: late })).status).toBe(428);
  });

  it('is refused where it is none, or another was signed', async () => {
    await statuses(2);
    const { challenge } = (await call()).body;
    const proof = JSON.parse(Buffer.from(await solve(challenge), 'base64url').toString());
    const send = (value: unknown) =>
      call({ proof: Buffer.from(JSON.stringify(value)).toString('base64url') });
    const { parameters, signature } = challenge;
    for (const wrong of [
      {},
      null,
      { ...proof, solution: { counter: 0, derivedKey: '00'.repeat(32) } },
      { ...proof, solution: { counter: -1, derivedKey: 'x' } },
      { ...proof, challenge: { parameters: { ...parameters, keyPrefix: '0' }, signature } },
      { ...proof, challenge: { parameters: { ...parameters, cost: 1 }, signature } },
      { ...proof, challenge: { parameters, signature: '00'.repeat(32) } },
      { ...proof, challenge: { parameters } },
    ])
      expect((await send(wrong)).status).toBe(428);
    for (const text of ['', 'x', '%', 'x'.repeat(9000)])
      expect((await call({ proof: text })).status).toBe(428);
    expect((await send(proof)).status).toBe(401);
  });

  it('is sent with the same Idempotency-Key as the call that was asked for it', async () => {
    const path = '/auth/signup';
    await statuses(2, { path });
    const identity = anonymous({ ip: '198.51.100.1' });
    const body = { email: 'once@example.org', password: goodPassword };
    const send = (proof?: string) =>
      bed.call('POST', path, {
        identity,
        body,
        headers: { 'idempotency-key': 'k', ...(proof && { 'backlot-proof': proof }) },
      });
    const asked = await send();
    expect(asked.status).toBe(428);
    const proof = await solve(asked.body.challenge);
    expect((await send(proof)).status).toBe(201);
    expect((await send(proof)).status).toBe(201);
  });

  it('does not count against who has none', async () => {
    await statuses(2);
    expect(new Set(await statuses(40))).toEqual(new Set([428]));
    expect((await call({ proof: await solved() })).status).toBe(401);
  });
});
