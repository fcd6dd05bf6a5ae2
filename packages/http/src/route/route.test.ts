import { gzipSync } from 'node:zlib';
import { ApiError, defineRoute } from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  asOperator,
  asOwner,
  asUser,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  signed,
  testIdentityKeys,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { IdempotencyStore } from '../answer/idempotent.ts';
import { JsonText } from '../answer/reply.ts';
import { serviceApp } from '../server/service-app.ts';
import type { RouteOptions } from './mounted-route.ts';
import { route } from './route.ts';

const echo = defineRoute({
  operationId: 'echo',
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  path: '/db/:collection',
  summary: 'Echo',
  callers: ['anonymous', 'user'],
  limit: 'write',
  params: z.object({ collection: z.string().max(10) }),
  query: z.object({ n: z.coerce.number<string>().int().default(1) }),
  body: z.object({ text: z.string(), deep: z.object({ list: z.array(z.number()) }).optional() }),
  bodyLimitBytes: 1000,
  response: z.looseObject({}),
  status: 201,
  errors: [],
});
const members = defineRoute({
  ...echo,
  operationId: 'members',
  path: '/members',
  callers: ['user'],
  params: z.object({}),
});
const { body: _body, ...withoutBody } = echo;
const fails = defineRoute({
  ...withoutBody,
  operationId: 'fails',
  method: 'GET',
  path: '/fails/:collection',
});
const lies = defineRoute({
  ...fails,
  operationId: 'lies',
  path: '/lies',
  params: z.object({}),
  response: z.object({ n: z.number() }),
});

const empties = defineRoute({
  ...withoutBody,
  operationId: 'empties',
  method: 'DELETE',
  path: '/empties',
  params: z.object({}),
  response: z.undefined(),
  status: 204,
});

const changes = defineRoute({ ...empties, operationId: 'changes', path: '/changes' });

const once = defineRoute({ ...empties, operationId: 'once', path: '/once' });
const again = defineRoute({ ...empties, operationId: 'again', path: '/again' });

const ofProject = defineRoute({
  ...withoutBody,
  operationId: 'ofProject',
  plane: 'platform',
  method: 'GET',
  path: '/projects/:projectId',
  callers: ['owner', 'operator'],
  params: z.object({ projectId: z.string() }),
});

const notUnderTest = () => Promise.reject(new Error('not under test'));
const noKeys: IdempotencyStore = {
  run: notUnderTest,
  runInOne: notUnderTest,
  runSlow: notUnderTest,
};
const logged: object[] = [];
const runs: string[] = [];

/** Fails at first. */
const runTwice = (retriedWhileLocked: boolean): RouteOptions => ({
  retriedWhileLocked,
  inTurn: (_caller, work) => work().catch(work),
});
const failFirst = (name: string) => async () => {
  runs.push(name);
  if (runs.filter((run) => run === name).length === 1) throw new Error('locked');
  return { body: undefined };
};

describe('route', () => {
  let service: ServiceUnderTest;
  beforeAll(async () => {
    service = await serveForTest(
      serviceApp({
        routes: [
          route(echo, async ({ params, query, body, identity }) => ({
            body: { params, query, body, caller: identity.caller },
            headers: { ETag: '"1"' },
          })),
          route(members, async () => ({ body: new JsonText('{"raw":', '"é"', '}') })),
          route(fails, async ({ params }) => {
            if (params.collection === 'api')
              throw new ApiError('conflict', 'No.', { hint: 'Try.', headers: { Allow: 'GET' } });
            if (params.collection === 'visitor')
              throw new ApiError('unauthenticated', 'Sign in first.');
            if (params.collection === 'down')
              throw Object.assign(new Error('secret host'), { isUnavailable: true });
            if (params.collection === 'full')
              throw Object.assign(new Error('full'), {
                name: 'FairShareFull',
                retryAfterSeconds: 3,
              });
            throw new Error('secret detail');
          }),
          route(ofProject, async ({ identity }) => ({ body: { number: identity.project.number } })),
          route(empties, async () => ({ body: undefined, headers: { ETag: '"2"' } })),
          route(changes, async ({ query }) => {
            Reflect.set(query, 'n', 2);
            return { body: undefined, headers: { ETag: `"${query.n}"` } };
          }),
          route(once, failFirst('once'), runTwice(false)),
          route(again, failFirst('again'), runTwice(true)),
          route(lies, async () => ({ body: new JsonText('{"n":"not a number"}') })),
        ],
        gatewayKeys: testIdentityKeys('gateway'),
        now: Date.now,
        idempotency: noKeys,
        checkResponses: true,
        log: { error: (fields) => void logged.push(fields) },
        ready: async () => ({ isServing: true, dependencies: [] }),
      }),
      Date.now,
      createFindTestRoute([echo, members, fails, lies, empties, changes, once, again, ofProject]),
    );
  });
  afterAll(() => service.stop());
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call('POST', path, { identity: anonymous(), body, headers });

  it('hands validated input and the identity over and answers with the status of the definition', async () => {
    const answer = await post('/db/notes?n=3', { text: 'hi' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.body).toEqual({
      params: { collection: 'notes' },
      query: { n: 3 },
      body: { text: 'hi' },
      caller: 'anonymous',
    });
  });

  it('reads an address without a query alike each time, and none can change it for the next', async () => {
    const asked = ['/db/notes', '/db/notes?n=5', '/db/notes', '/db/notes'];
    const answers = [];
    for (const path of asked) answers.push(await post(path, { text: 'hi' }));
    expect(answers.map(({ body }) => body.query)).toEqual([{ n: 1 }, { n: 5 }, { n: 1 }, { n: 1 }]);
    const change = await service.call('DELETE', '/changes', { identity: anonymous() });
    expect(change.headers.get('etag')).toBe('"1"');
  });

  it('passes text that is JSON already through, in its pieces', async () => {
    const answer = await service.call('POST', '/members', {
      identity: asUser('u'),
      body: { text: '' },
    });
    expect(answer.body).toEqual({ raw: 'é' });
    expect(answer.headers.get('content-length')).toBe('12');
  });

  it('answers 204 with headers alone', async () => {
    const { status, headers, body } = await service.call('DELETE', '/empties', {
      identity: anonymous(),
    });
    expect([status, headers.get('etag'), body]).toEqual([204, '"2"', '']);
    expect([headers.has('content-type'), headers.has('content-length')]).toEqual([false, false]);
  });

  it('has its handler run a second time only where its options say that it may', async () => {
    const call = (path: string) => service.call('DELETE', path, { identity: anonymous() });
    expect((await call('/once')).status).toBe(500);
    expect((await call('/again')).status).toBe(204);
    expect(runs).toEqual(['once', 'again', 'again']);
    logged.length = 0;
  });

  it.each<[string, unknown, number]>([
    ['nothing', '', 204],
    ['an empty object', {}, 204],
    ['an empty object, written loosely', ' { } ', 204],
    ['null', 'null', 204],
    ['a field', { amount: 100 }, 400],
    ['a list', [], 400],
    ['no JSON', 'amount=100', 400],
    ['more than it would read', { text: 'x'.repeat(100_000) }, 400],
  ])('that takes no body and gets %s answers %s with %i', async (_what, body, status) => {
    const answer = await service.call('DELETE', '/empties', { identity: anonymous(), body });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body).toMatchObject({ code: 'invalid_body' });
  });

  it('refuses a number that it could not keep, at any depth, once the fields are right', async () => {
    const sent = '{"text":"x","deep":{"list":[1,123456789012345678]}}';
    expect(await post('/db/notes', sent, { 'content-type': 'application/json' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', error: expect.stringContaining('123456789012345678') },
    });
  });

  it.each([
    ['path', '/db/longer-than-ten', { text: 'x' }, 'invalid_path', '"collection"'],
    ['query', '/db/x?n=two', { text: 'x' }, 'invalid_query', '"n"'],
    ['body', '/db/x', { text: 5 }, 'invalid_body', '"text"'],
    [
      'nested body',
      '/db/x',
      { text: '', deep: { list: [1, 'x'] } },
      'invalid_body',
      '"deep.list.1"',
    ],
    ['missing body', '/db/x', undefined, 'invalid_body', ''],
    ['array body', '/db/x', [], 'invalid_body', ''],
    ['broken JSON', '/db/x', '{"text":', 'invalid_json', ''],
    ['invalid UTF-8', '/db/x', new Uint8Array([0x22, 0xff, 0x22]), 'invalid_json', 'UTF-8'],
  ])('answers 400 for a wrong %s and names the field', async (_what, path, body, code, names) => {
    const answer = await post(path, body);
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(answer.body.error).toContain(names);
  });

  it('answers 415 for a body that is not JSON, or not UTF-8', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'json',
      '',
    ]) {
      expect(await post('/db/x', '{"text":"x"}', { 'content-type': type })).toMatchObject({
        status: 415,
      });
    }
    expect(await post('/db/x', '{"text":"x"}', { 'content-encoding': 'rot13' })).toMatchObject({
      status: 415,
    });
  });

  it('takes gzip, holds it to the limit after unpacking, and survives a broken one', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    expect(await post('/db/x', gzipSync('{"text":"x"}'), gzip)).toMatchObject({ status: 201 });
    expect(
      await post('/db/x', gzipSync(JSON.stringify({ text: 'x'.repeat(100_000) })), gzip),
    ).toMatchObject({ status: 413 });
    expect(await post('/db/x', 'not gzip', gzip)).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });

  it('answers 413 past the limit, with and without a stated length', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(1000) });
    expect(await post('/db/x', long)).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    const streamed = await fetch(`${service.url}/db/x`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [identityHeader]: signed(anonymous(), echo) },
      body: new Blob([long]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  it('survives deep nesting', async () => {
    const answer = await post('/db/x', `{"text":${'['.repeat(400)}${']'.repeat(400)}}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it('refuses a caller outside the list only after the body was found right', async () => {
    expect(
      await service.call('POST', '/members', { identity: anonymous(), body: '{' }),
    ).toMatchObject({ status: 401 });
    const asKey = { ...asUser('u'), caller: 'key' as const };
    expect(await service.call('POST', '/members', { identity: asKey, body: '{' })).toMatchObject({
      status: 400,
    });
    expect(
      await service.call('POST', '/members', { identity: asKey, body: { text: '' } }),
    ).toMatchObject({ status: 403 });
  });

  it('opens the project of a path to its owner and the operator, where the gateway has found it', async () => {
    const another = { ...testProject, id: 'another', ownerId: null };
    const answers: [Identity, string, number][] = [
      [asOwner(), testProject.id, 201],
      [asOperator(), testProject.id, 201],
      [asOwner(), 'another', 404],
      [asOperator(), 'another', 404],
      [asOwner({ userId: 'somebody' }), testProject.id, 404],
      [asOwner({ userId: null, project: another }), 'another', 404],
      [asOperator({ project: another }), 'another', 201],
    ];
    for (const [identity, id, status] of answers) {
      const answer = await service.call('GET', `/platform/projects/${id}`, { identity });
      expect([identity.caller, id, answer.status]).toEqual([identity.caller, id, status]);
      if (status === 404) expect(answer.body.code).toBe('project_not_found');
    }
  });

  it('tells who is blocked so where others would have to sign in', async () => {
    const call = (isBlocked?: true) =>
      service.call('GET', '/fails/visitor', { identity: anonymous(isBlocked && { isBlocked }) });
    expect(await call()).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await call(true)).toMatchObject({ status: 403, body: { code: 'blocked' } });
  });

  it('shows an ApiError whole and anything else as an internal error without a detail', async () => {
    const call = (how: string) => service.call('GET', `/fails/${how}`, { identity: anonymous() });
    const conflict = await call('api');
    expect(conflict).toMatchObject({
      status: 409,
      body: { error: 'No.', code: 'conflict', hint: 'Try.' },
    });
    expect(conflict.headers.get('allow')).toBe('GET');
    const down = await call('down');
    expect(down).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const full = await call('full');
    expect(full).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(full.headers.get('retry-after')).toBe('3');
    expect(down.headers.get('retry-after')).toBe('2');
    const broken = await call('bug');
    expect(broken).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify([down.body, broken.body])).not.toContain('secret');
    expect(logged).toHaveLength(2);
  });

  it('finds out when a handler does not answer what the contract says', async () => {
    expect(await service.call('GET', '/lies', { identity: anonymous() })).toMatchObject({
      status: 500,
    });
  });

  it('answers 404 for an unknown path, also under /internal, and serves its health', async () => {
    for (const path of ['/nothing', '/internal/projects/x', '/db']) {
      expect(await service.call('GET', path)).toMatchObject({
        status: 404,
        body: { code: 'route_not_found' },
      });
    }
    expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200 });
    expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200 });
  });

  it('answers 400 for a path that is no valid UTF-8', async () => {
    expect(await post('/db/%ff', { text: '' })).toMatchObject({ status: 400 });
  });
});
