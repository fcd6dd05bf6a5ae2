import { connect } from 'node:net';
import { type RouteDefinition, routes } from '@backlot/contract';
import type { Answer, Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLong, type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** Texts that have broken servers before. */
const nasty = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '%00',
  '%',
  '%zz',
  '%ff',
  '..',
  '../..',
  '%2e%2e%2f',
  '//',
  '\\',
  "'",
  "'; DROP TABLE records; --",
  '1 OR 1=1',
  '$.a ? (@ > 1)',
  '$where',
  '__proto__',
  'constructor',
  'toString',
  '{',
  '[]',
  '{}',
  'null',
  'true',
  'NaN',
  'Infinity',
  '1e400',
  '-1',
  '1.5',
  '99999999999999999999',
  '1e131071',
  '\u202eabc',
  '💥'.repeat(100),
  'a'.repeat(300),
  '{"$where":"1"}',
  '{"a":{"$gt":null}}',
  '{"a":{"$in":"x"}}',
  '{"$or":[]}',
  '{"a\\u0000b":1}',
  '{"a":"\\ud800"}',
  '{"__proto__":1}',
  '[1]',
  '{"a":[1]}',
  `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`,
  `${'{"$not":'.repeat(50)}1${'}'.repeat(50)}`,
  '{"a":1e400}',
  '{"a.b..c":1}',
  '{".":1}',
  '{"$a":1}',
];
const nastyText = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.string({ maxLength: 40 }),
);

/** JSON texts, valid and not, of every type in every place. */
const nastyJson = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    'null',
    '1',
    '"x"',
    '[]',
    '{"data":null}',
    '{"data":[]}',
    '{"data":{"a":1e400}}',
    '{"data":{"a":1e131071}}',
    '{"data":{"a":-1e-400}}',
    '{"data":{"__proto__":{"x":1}}}',
    '{"data":{"$a":1}}',
    '{"data":{"a.b":1}}',
    '{"data":{"a\\u0000":1}}',
    '{"data":{"a":"\\u0000"}}',
    '{"data":{"a":"\\ud800"}}',
    '{"data":{"a":12345678901234567890}}',
    `{"data":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    `{"data":{"a":${'{"b":'.repeat(50_000)}1${'}'.repeat(50_000)}}}`,
    '{"email":"\\u0000@x.org","password":"12345678"}',
    '{"email":"a@b.org","password":"\\ud8001234567"}',
    '{"email":["a@b.org"],"password":{}}',
    '{"inc":{"a":1e308}}',
    '{"unset":["$a"]}',
    '{"name":"\\u0000"}',
    '{"settings":{"__proto__":1}}',
    '{"settings":{"allowedOrigins":["javascript:1"]}}',
    '{"read":{"perCaller":-1}}',
    '\ufeff{}',
  ),
  fc
    .record({ data: fc.dictionary(nastyText, fc.jsonValue(), { maxKeys: 5 }) })
    .map((value) => JSON.stringify(value)),
  fc
    .record(
      Object.fromEntries(
        [
          'email',
          'password',
          'name',
          'token',
          'currentPassword',
          'newPassword',
          'all',
          'data',
          'unset',
          'inc',
          'access',
          'settings',
          'status',
          'role',
          'read',
        ].map((key) => [key, fc.oneof(nastyText, fc.jsonValue())]),
      ),
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);

const queryNames = ['where', 'sort', 'limit', 'offset', 'cursor', 'mine', 'x'];
const safelyEncoded = (text: string) => encodeURIComponent(text.toWellFormed());
const pathPart = fc.oneof(
  nastyText.map(safelyEncoded),
  fc.constantFrom('notes', 'demo', '018f0000-0000-7000-8000-000000000000'),
);

describe('no input makes a 5xx', () => {
  let platform: PlatformUnderTest;
  let runtime: Api;
  let tokens: (string | undefined)[];
  let projectId: string;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process', { BACKLOT_TRUSTED_PROXIES: '1' });
    const project = await platform.newProject();
    projectId = project.id;
    runtime = project.api;
    const user = await platform.signUp(projectId);
    tokens = [undefined, user.token, project.owner.token, platform.operatorToken];
    const wide = { perCaller: 1_000_000, perProject: 1_000_000 };
    for (const id of [projectId, 'platform']) {
      const { status } = await platform.control('PUT', `/projects/${id}/limits`, {
        token: platform.operatorToken,
        body: { read: wide, write: wide },
      });
      expect(status).toBe(200);
    }
    await runtime('POST', '/db/notes', { body: { data: { n: 1, tags: ['a'] } } });
  });
  afterAll(() => platform.stop());

  const expectGoodFailure = (answer: Answer, request: unknown) => {
    const seen = JSON.stringify(request).slice(0, 300);
    expect([seen, answer.status < 500]).toEqual([seen, true]);
    if (answer.status < 400) return;
    expect([seen, answer.body]).toEqual([
      seen,
      expect.objectContaining({
        error: expect.any(String),
        code: expect.stringMatching(/^[a-z_]+$/),
        requestId: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
      }),
    ]);
    const leaks = JSON.stringify(answer.body).match(
      /SELECT|INSERT|pg_|node_modules|at .*\.ts|syntax error|constraint/g,
    );
    const asked = JSON.stringify(request);
    expect(leaks?.filter((leak) => !asked.includes(leak)) ?? []).toEqual([]);
  };

  const requestTo = (route: RouteDefinition) =>
    fc.record({
      path: fc.tuple(pathPart, pathPart).map(([first, second]) =>
        route.path
          .replace(':projectId', projectId)
          .replace(/:[A-Za-z]+/, first || 'notes')
          .replace(/:[A-Za-z]+/, second || 'x'),
      ),
      query: fc.dictionary(fc.constantFrom(...queryNames), nastyText, { maxKeys: 4 }),
      body: fc.option(nastyJson, { nil: undefined }),
      caller: fc.nat(3),
      headers: fc.record(
        {
          'if-match': nastyText,
          'idempotency-key': nastyText,
          'x-request-id': nastyText,
          'tus-resumable': fc.constantFrom('1.0.0', '1.0.0', '2'),
          'upload-length': fc.oneof(nastyText, fc.constant('10')),
          'upload-offset': fc.oneof(nastyText, fc.constant('0')),
          'upload-metadata': nastyText,
          'content-type': fc.constantFrom(
            'application/json',
            'text/plain',
            'application/json; charset=utf-16',
            'application/offset+octet-stream',
            ';',
          ),
        },
        { requiredKeys: [] },
      ),
    });
  const headerSafe = (headers: Record<string, string | undefined>) =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        value === undefined || /[^\t\x20-\x7e]/.test(value) ? [] : [[name, value]],
      ),
    );

  // Erasing the accounts that the other calls sign in with would end the test's own sessions.
  const ending = ['deleteMe', 'signOut', 'deleteProject', 'updateProject', 'setLimits'];
  // Its answer has no end where nothing is wrong.
  const endless = ['streamRequests'];
  const spared = [...ending, ...endless];
  const tried = routes.filter((route) => !spared.includes(route.operationId));

  it.each(tried.map((route, n) => [route.operationId, route, n] as const))(
    '%s, generated',
    async (_name, route, n) => {
      // Refusals of one address are paced once they are many.
      const address = { 'x-forwarded-for': `192.0.2.${n}` };
      await fc.assert(
        fc.asyncProperty(requestTo(route), async ({ path, query, body, caller, headers }) => {
          const search = Object.entries(query)
            .map(([name, value]) => `${name}=${safelyEncoded(value)}`)
            .join('&');
          const call = route.plane === 'runtime' ? runtime : platform.control;
          const withBody = body === undefined || route.method === 'GET' ? {} : { body };
          const answer = await call(route.method, `${path}?${search}`, {
            token: tokens[caller],
            headers: { ...headerSafe(headers), ...address },
            ...withBody,
          });
          expectGoodFailure(answer, { path, query, body, headers });
        }),
        { numRuns: isLong ? 60 : 15, verbose: 0 },
      );
      expect(await runtime('GET', '/db/notes/_count')).toMatchObject({ status: 200 });
    },
  );

  it.each([
    [
      'a body of 10 MB',
      () =>
        runtime('POST', '/db/notes', {
          body: JSON.stringify({ data: { a: 'x'.repeat(10 * 1024 * 1024) } }),
        }),
      413,
    ],
    [
      'a body of 10 MB to another route',
      () => runtime('POST', '/auth/signin', { body: 'x'.repeat(10 * 1024 * 1024) }),
      413,
    ],
    [
      'a record of more than 1 MiB',
      () => runtime('POST', '/db/notes', { body: { data: { a: 'x'.repeat(1024 * 1024 + 1) } } }),
      400,
    ],
    ['a path of 8 KB', () => runtime('GET', `/db/${'a'.repeat(8192)}`), 400],
    ['an unknown method', () => runtime('PROPFIND', '/db/notes'), 405],
    ['a method the route lacks', () => runtime('PATCH', '/db/notes'), 405],
    ['an unknown route', () => runtime('GET', '/nothing'), 404],
    [
      'a form instead of JSON',
      () =>
        runtime('POST', '/db/notes', {
          body: 'a=1',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      415,
    ],
  ])('answers %s', async (_what, call, status) => {
    const answer = await call();
    expectGoodFailure(answer, _what);
    expect(answer.status).toBe(status);
  });

  const rawRequest = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(platform.url).port), 'localhost', () =>
        socket.write(text, 'latin1'),
      );
      let answer = '';
      socket.setTimeout(20_000, () => socket.destroy(new Error('no answer in 20 s')));
      socket.on('data', (chunk) => {
        answer += chunk;
        socket.end();
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  it.each([
    ['no HTTP', 'HELLO\r\n\r\n', 400],
    [
      'a head over 32 KB',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`,
      431,
    ],
    [
      'length and chunks at once',
      'POST /api/runtime/demo/db/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'two lengths',
      'POST /api/runtime/demo/db/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      400,
    ],
    [
      'raw bytes in the path',
      'GET /api/runtime/demo/db/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'an absolute address of another host',
      'GET http://evil.example/api/runtime/demo/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'broken percent-encoding',
      'GET /api/runtime/demo/db/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
  ])('answers %s on the wire', async (_what, text, status) => {
    expect(await rawRequest(text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
