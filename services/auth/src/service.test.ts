import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@backlot/bus';
import { internalIdentity } from '@backlot/identity';
import { createSealer } from '@backlot/sealing';
import { asOperator, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from './testing/authenticator.ts';
import { setUpApp } from './testing/authenticator-app.ts';
import {
  createTestBed,
  dayMs,
  goodPassword,
  hourMs,
  otherProject,
  platform,
  type TestBed,
} from './testing/test-bed.ts';

describe('the auth service', () => {
  let bed: TestBed;
  const published: BusEvent[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
    await bed.bus.listen(
      ['mail.requested', 'session.revoked', 'user.erased', 'user.verified'],
      (event) => published.push(event),
    );
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  const count = async (table: string, project: number) =>
    (await bed.database.query(`SELECT FROM ${table} WHERE project_number = $1`, [project])).length;

  it('publishes what it has stored', async () => {
    const { email } = await bed.signUp();
    await until(() => published.some(({ payload }) => (payload as { to?: string }).to === email));
  });

  it('says of an address that was shared with whose it is, where it is verified', async () => {
    const [verified, unverified] = [await bed.signUp(), await bed.signUp()];
    const path = `/platform/projects/${testProject.id}/users/${verified.user.id}`;
    await bed.call('PATCH', path, { identity: asOperator(), body: { emailVerified: true } });
    const told = () => published.filter(({ topic }) => topic === 'user.verified');
    await until(() => told().length === 1);
    const request = (projectNumber: number, email: string) =>
      bed.bus.publish({
        id: randomUUID(),
        topic: 'share.requested',
        payload: { projectNumber, email },
      });
    await request(testProject.number, unverified.email);
    await request(otherProject.number, verified.email);
    await request(testProject.number, verified.email);
    await until(() => told().length === 2);
    const { id: userId, email } = verified.user;
    for (const { payload } of told())
      expect(payload).toEqual({ projectNumber: testProject.number, userId, email });
  });

  it('answers the gateway, and nobody else, whose session it is', async () => {
    const { sessionId } = await bed.signUp();
    const path = `/internal/sessions/${testProject.number}/${sessionId}`;
    const ask = (at: string, identity = internalIdentity) => bed.call('GET', at, { identity });
    expect(await ask(path)).toMatchObject({
      status: 200,
      body: { live: true, role: 'user', groups: [] },
    });
    expect((await ask(`/internal/sessions/${otherProject.number}/${sessionId}`)).body).toEqual({
      live: false,
    });
    expect((await ask('/internal/sessions/x/y')).body).toEqual({ live: false });
    expect((await ask(`/internal/sessions/99999999999999999999/${sessionId}`)).body).toEqual({
      live: false,
    });
    expect(await ask(path, asOperator())).toMatchObject({ status: 401 });
    expect(await bed.call('GET', path)).toMatchObject({ status: 401 });
  });

  it('answers the platform, and nobody else, what a user is and belongs to', async () => {
    const { user, identity } = await bed.signUp();
    const path = `/internal/users/${testProject.number}/${user.id}`;
    const ask = (at: string, as = internalIdentity) => bed.call('GET', at, { identity: as });
    const isBlocked = false;
    expect((await ask(path)).body).toEqual({
      role: 'user',
      groups: [],
      emailVerified: false,
      isBlocked,
    });
    const { body } = await bed.call('POST', '/groups', { identity, body: { name: 'Red' } });
    await bed.call('PATCH', `/platform/projects/testproject/users/${user.id}`, {
      identity: asOwner(),
      body: { role: 'staff', blocked: true },
    });
    const groups = [{ id: body.id, role: 'owner' }];
    expect((await ask(path)).body).toEqual({
      role: 'staff',
      groups,
      emailVerified: false,
      isBlocked: true,
    });
    for (const at of [`${otherProject.number}/${user.id}`, `${testProject.number}/x`])
      expect((await ask(`/internal/users/${at}`)).status).toBe(404);
    expect((await ask(path, asOperator())).status).toBe(401);
  });

  it('answers the platform, and nobody else, whose verified address it is', async () => {
    const { email, user } = await bed.signUp();
    const path = `/internal/accounts/${testProject.number}`;
    const ask = (method: string, at: string, body?: unknown, identity = internalIdentity) =>
      bed.call(method, at, { identity, ...(body !== undefined && { body }) });
    const body = { emails: ['nobody@example.org', email.toUpperCase()] };
    expect((await ask('POST', `${path}/registered`, body)).body).toEqual({ emails: [] });
    await bed.call('PATCH', `/platform/projects/testproject/users/${user.id}`, {
      identity: asOwner(),
      body: { emailVerified: true },
    });
    expect((await ask('POST', `${path}/registered`, body)).body).toEqual({ emails: [email] });
    const elsewhere = `/internal/accounts/${otherProject.number}`;
    expect((await ask('POST', `${elsewhere}/registered`, body)).body).toEqual({ emails: [] });
    expect((await ask('POST', `${path}/registered`, { emails: 5 })).status).toBe(400);
    const account = { email, name: user.name, emailVerified: true };
    expect((await ask('GET', `${path}/${user.id}`)).body).toEqual(account);
    for (const at of [`${elsewhere}/${user.id}`, `${path}/x`, `/internal/accounts/x/${user.id}`])
      expect((await ask('GET', at)).status).toBe(404);
    for (const [method, at] of [
      ['POST', `${path}/registered`],
      ['GET', `${path}/${user.id}`],
    ] as const)
      expect((await ask(method, at, undefined, asOperator())).status).toBe(401);
  });

  it('shows in its metrics what hashes cost', async () => {
    await bed.signUp();
    expect(await bed.registry.metrics()).toMatch(
      /backlot_queue_cost_seconds_total\{queue="hashes",lane="slow"\} [\d.e-]*[1-9]/,
    );
  });

  it('makes an owner once, however many processes do it, and never changes them', async () => {
    const owner = { email: ' Owner@example.org', password: goodPassword, name: null };
    const results = await Promise.all(
      Array.from({ length: 4 }, () => bed.another().ensureOwner(owner)),
    );
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ user }) => user.id)).size).toBe(1);
    expect(results[0]?.user).toMatchObject({ email: 'owner@example.org', emailVerified: true });
    const again = await bed.service.ensureOwner({ ...owner, password: 'another one entirely' });
    expect(again.created).toBe(false);
    expect(
      (
        await bed.signIn(
          { email: 'owner@example.org', password: goodPassword },
          '192.0.2.1',
          platform,
        )
      ).status,
    ).toBe(200);
  });

  it('erases what it holds of an erased project, and only of that', async () => {
    const { identity } = await bed.signUp();
    await bed.database.query(
      `INSERT INTO users (project_number, id, email, password_hash, created_at, updated_at)
       SELECT $1, gen_random_uuid(), n || '@example.org', '', now(), now() FROM generate_series(1, 1200) n`,
      [otherProject.number],
    );
    await bed.signUp({ project: otherProject });
    await bed.database.query("INSERT INTO used_challenges VALUES ($1, 'x', now() + '1 hour')", [
      otherProject.number,
    ]);
    await bed.call('POST', '/auth/forgot', {
      identity: { ...identity, project: otherProject, caller: 'anonymous' },
      body: { email: 'nobody@example.org' },
    });
    const event = {
      id: 'e1',
      topic: 'project.erased',
      payload: { projectId: otherProject.id, projectNumber: otherProject.number },
    };
    await bed.bus.publish(event);
    await bed.bus.publish(event);
    const tables = ['users', 'sessions', 'known_addresses', 'one_time_tokens', 'attempts'];
    for (const table of [...tables, 'used_challenges']) {
      expect(await count(table, otherProject.number)).toBe(0);
    }
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(200);
  });

  it('deletes what has expired and nothing else', async () => {
    await bed.signUp();
    bed.clock.pass(2 * hourMs);
    const { identity } = await bed.signUp();
    const tables = ['sessions', 'one_time_tokens', 'attempts', 'known_addresses'];
    const counts = () => Promise.all(tables.map((table) => count(table, testProject.number)));
    const sweepNow = async () => {
      const process = bed.another();
      await process.start();
      await process.stop();
      return counts();
    };
    const [sessions = 0, tokens = 0, , addresses = 0] = await counts();
    expect(await sweepNow()).toEqual([sessions, tokens, 2, addresses]);
    bed.clock.pass(dayMs);
    expect(await sweepNow()).toEqual([sessions, 0, 0, addresses]);
    bed.clock.pass(100 * dayMs);
    expect(await sweepNow()).toEqual([0, 0, 0, 0]);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(401);
  });

  it('forgets what second factors and passkeys leave once its time is over, and no factor in use', async () => {
    const [person, beginner] = [await bed.signUp(), await bed.signUp()];
    const { app } = await setUpApp(bed, person);
    await bed.call('POST', '/auth/factors/totp', { identity: beginner.identity });
    const asked = async () => (await bed.signIn(person)).body.factorToken;
    await asked();
    const body = { factorToken: await asked(), code: app.nextCode(), remember: true };
    await bed.call('POST', '/auth/factors/verify', { body });
    const device = createAuthenticator();
    const { identity } = person;
    const options = await bed.call('POST', '/auth/passkeys/options', { identity });
    const credential = device.create(options.body);
    await bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
    const tables = [
      'factors',
      'factor_tokens',
      'remembered_devices',
      'used_challenges',
      'passkeys',
    ];
    const counts = () => Promise.all(tables.map((table) => count(table, testProject.number)));
    const sweepNow = async () => {
      const process = bed.another();
      await process.start();
      await process.stop();
      return counts();
    };
    expect(await sweepNow()).toEqual([2, 1, 1, 1, 1]);
    bed.clock.pass(2 * hourMs);
    expect(await sweepNow()).toEqual([1, 0, 1, 0, 1]);
    bed.clock.pass(30 * dayMs);
    expect(await sweepNow()).toEqual([1, 0, 0, 0, 1]);
  });

  it('is ready while the database answers', async () => {
    expect(await bed.http.call('GET', '/readyz')).toMatchObject({ status: 200 });
  });
});

it('says where it holds secrets that its master keys do not open, and signs everybody else in', async () => {
  const bed = await createTestBed();
  const person = await bed.signUp();
  const ready = async (service: TestBed['service']) => (await service.ready()).dependencies;
  const secrets = (state: string) => expect.objectContaining({ name: 'secrets', state });
  await setUpApp(bed, person);
  expect(await ready(bed.service)).toContainEqual(secrets('works'));
  const other = { secretsKeys: [Buffer.alloc(32, 9)] };
  const wrong = bed.another(other);
  expect(await ready(wrong)).toContainEqual({
    name: 'secrets',
    state: 'missing',
    reason: 'other_master_key',
    since: expect.any(String),
  });
  const { isServing } = await wrong.ready();
  expect(isServing).toBe(true);
  const process = await bed.startProcess(other);
  const { factorToken } = (await process.signIn(person)).body;
  expect(factorToken).toBeDefined();
  const next = await bed.signUp();
  expect((await process.signIn(next)).status).toBe(200);
  await bed.database.query(
    `INSERT INTO factors SELECT project_number, gen_random_uuid(), $1, substring($2::bytea FROM 1), 0, now(), now(), NULL
       FROM factors LIMIT 1`,
    [next.user.id, createSealer(other.secretsKeys).seal('x', 'y')],
  );
  expect(await ready(bed.another(other))).toContainEqual(secrets('degraded'));
  const both = { secretsKeys: [...other.secretsKeys, ...bed.config.secretsKeys] };
  expect(await ready(bed.another(both))).toContainEqual(secrets('works'));
  await bed.close();
});

it('restored under other master keys starts, signs everybody in, and says in a line each what is lost', async () => {
  const bed = await createTestBed();
  const [plain, withApp] = [await bed.signUp(), await bed.signUp()];
  await setUpApp(bed, withApp);
  await bed.service.stop();
  // As a back-up of a moment ago is: the keys of before are in it, and were in use.
  const restored = await bed.startProcess({
    masterKeys: [Buffer.alloc(32, 9)],
    secretsKeys: [Buffer.alloc(32, 9)],
  });
  expect((await restored.signIn(plain)).status).toBe(200);
  expect((await restored.signIn(withApp)).body.factorToken).toBeDefined();
  const { isServing, dependencies } = await restored.ready();
  const amiss = dependencies.filter(({ state }) => state !== 'works').map(({ name }) => name);
  expect([isServing, amiss]).toEqual([true, ['secrets']]);
  expect(restored.logged.map((line) => JSON.parse(line))).toMatchObject([
    { msg: expect.stringMatching(/AUTH_MASTER_KEY.*everybody has to sign in again/) },
    { lost: 1, kept: 0, msg: 'secrets do not open under BACKLOT_SECRETS_KEYS' },
  ]);
  await bed.close();
});

it('says where other processes sign under another master key', async () => {
  const bed = await createTestBed();
  const keys = async (service: TestBed['service']) =>
    (await service.ready()).dependencies.find(({ name }) => name === 'signing_keys');
  await bed.signUp();
  expect(await keys(bed.service)).toMatchObject({ state: 'works' });
  const newer = bed.another({ masterKeys: [Buffer.alloc(32, 9)] });
  await newer.directories.sessions.jwks();
  bed.clock.pass(61_000);
  expect(await keys(newer)).toMatchObject({ state: 'works' });
  expect(await keys(bed.service)).toMatchObject({ state: 'missing', reason: 'other_master_key' });
  await bed.close();
});
