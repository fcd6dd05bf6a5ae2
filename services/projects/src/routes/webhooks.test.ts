import { randomUUID } from 'node:crypto';
import { type RouteDefinition, webhookRoutes } from '@backlot/contract';
import { asKey, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const wanted = { url: 'https://shop.example/hook', on: ['payment.paid'] };

const routes = [
  [webhookRoutes.setWebhook, '/main', wanted],
  [webhookRoutes.listWebhooks, '', undefined],
  [webhookRoutes.getWebhook, '/main', undefined],
  [webhookRoutes.renewWebhookSecret, '/main/secret', undefined],
  [webhookRoutes.listWebhookDeliveries, '/main/deliveries', undefined],
  [webhookRoutes.replayWebhook, '/main/replay', { id: randomUUID() }],
  [webhookRoutes.deleteWebhook, '/main', undefined],
] satisfies [RouteDefinition, string, unknown][];

describe('webhooks of a project', () => {
  let bed: TestBed;
  let projectId: string;
  beforeAll(async () => {
    bed = await createTestBed({ webhooksToLoopback: false });
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    projectId = await bed.project();
    await call('PUT', '/main', wanted);
    await bed.takeEvents();
  });

  const path = (rest: string) => `/platform/projects/${projectId}/webhooks${rest}`;
  const call = async (method: string, rest = '', body?: unknown) =>
    bed.call(method, path(rest), { identity: await bed.owner(ownerA, projectId), body });
  const everything = () =>
    bed.database.query<{ name: string; sealed_secret: Buffer }>(
      'SELECT * FROM webhooks ORDER BY project_number, name',
    );

  for (const [route, rest, body] of routes)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${projectId}/webhooks${rest}`, body }),
    );

  it('open to their owner alone: to no other, no key, no user, and by no other project', async () => {
    const before = await everything();
    const own = await bed.owner(ownerA, projectId);
    const other = await bed.project(ownerB);
    await bed.takeEvents();
    for (const [route, rest, body] of routes) {
      const answers = [
        [await bed.owner(ownerB, projectId), 404],
        [await bed.owner(ownerB, other), 404],
        [asKey({ project: own.project }), 403],
        [asUser(ownerA, { project: own.project }), 403],
      ] as const;
      for (const [identity, status] of answers) {
        const answer = await bed.call(route.method, path(rest), { identity, body });
        expect([route.operationId, answer.status]).toEqual([route.operationId, status]);
      }
    }
    expect(await everything()).toEqual(before);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('show their secret when it is made, and keep it sealed', async () => {
    const made = await call('PUT', '/second', wanted);
    expect(made).toMatchObject({ status: 201, body: { name: 'second', state: 'on', waiting: 0 } });
    const { secret } = made.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const again = await call('PUT', '/second', { ...wanted, on: ['user.created'] });
    expect(again).toMatchObject({ status: 200, body: { on: ['user.created'] } });
    const renewed = await call('POST', '/second/secret');
    expect(renewed.body.secret).not.toBe(secret);
    const shown = [again, await call('GET', ''), await call('GET', '/second')];
    expect(JSON.stringify(shown)).not.toContain('whsec_');
    const stored = (await everything()).map(({ sealed_secret: sealed }) => String(sealed)).join();
    expect(stored).not.toContain('whsec_');
    expect(await call('DELETE', '/second')).toMatchObject({ status: 200 });
    expect(await call('GET', '/second')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('say what they want of records, each time newer', async () => {
    const on = ['record.created', 'record.updated:orders', 'record.deleted:orders', 'user.created'];
    await call('PUT', '/records', { ...wanted, on });
    await call('DELETE', '/records');
    const told = (await bed.takeEvents()).filter(({ topic }) => topic === 'webhooks.changed');
    expect(told.map(({ payload }) => payload)).toMatchObject([
      {
        projectId,
        version: 2,
        wants: [
          { webhook: 'records', types: ['record.created'], collection: null },
          { types: ['record.updated', 'record.deleted'], collection: 'orders' },
        ],
      },
      { version: 3, wants: [] },
    ]);
  });

  it.each([
    ['http://shop.example/hook'],
    ['ftp://shop.example/hook'],
    ['https://user:word@shop.example/'],
    ['https://localhost/hook'],
    ['https://127.0.0.1:8080/hook'],
    ['https://2130706433/'],
    ['https://[::ffff:127.0.0.1]/'],
    ['https://169.254.169.254/latest/meta-data'],
    ['https://[64:ff9b::7f00:1]/'],
    ['https://[::7f00:1]/'],
    ['https://10.1.2.3/'],
    ['https://100.64.0.1/'],
  ])('do not lead to %s', async (url) => {
    expect(await call('PUT', '/bad', { ...wanted, url })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });

  it.each([
    [{ on: [] }],
    [{ on: ['payment'] }],
    [{ on: ['payment.paid:orders'] }],
    [{ on: ['record.created:'] }],
    [{ on: ['record.created:a:b'] }],
    [{ on: ['payment.paid'], where: { a: 1 } }],
    [{ on: ['record.created'], where: { $bad: 1 } }],
    [{ secret: 'mine' }],
  ])('refuse %j', async (changes) => {
    expect(await call('PUT', '/bad', { ...wanted, ...changes })).toMatchObject({ status: 400 });
  });

  it('are ten at most, made at once or one by one', async () => {
    const names = Array.from({ length: 14 }, (_, at) => `hook${at}`);
    const answers = await Promise.all(names.map((name) => call('PUT', `/${name}`, wanted)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(9).fill(201), ...Array(5).fill(403)]);
    expect(await call('PUT', '/more', wanted)).toMatchObject({ body: { code: 'webhook_limit' } });
  });

  it('are part of the config as a file, without secrets', async () => {
    const identity = await bed.owner(ownerA, projectId);
    const file = `/platform/projects/${projectId}/config`;
    const { body } = await bed.call('GET', file, { identity });
    expect(body.webhooks).toEqual({ main: wanted });
    const other = await bed.project();
    const there = `/platform/projects/${other}/config`;
    const applied = await bed.call('PUT', there, {
      identity: await bed.owner(ownerA, other),
      body,
    });
    expect(applied).toMatchObject({
      status: 200,
      body: { changes: [{ kind: 'webhook', name: 'main', action: 'create' }] },
    });
    expect(JSON.stringify(applied.body)).not.toContain('whsec_');
    expect((await everything()).filter(({ name }) => name === 'main')).not.toHaveLength(1);
    const gone = await bed.call('PUT', file, { identity, body: { webhooks: {} } });
    expect(gone.status).toBe(200);
    expect((await call('GET')).body.items).toEqual([]);
  });
});
