import {
  aiRoutes,
  authRoutes,
  emailRoutes,
  paymentRoutes,
  projectRoutes,
  type RouteDefinition,
  recordRoutes,
  routes,
  storageRoutes,
} from '@backlot/contract';
import {
  anonymous,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  testIdentityKeys,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, IdempotencyStore } from '../answer/idempotent.ts';
import { JsonText } from '../answer/reply.ts';
import { route } from '../route/route.ts';
import { serviceApp } from '../server/service-app.ts';
import { nearestName } from './nearest-name.ts';

/** Those that take and answer JSON, open to everybody. */
const openRoutes = routes
  .filter(({ takes, answers }) => takes === undefined && answers !== 'html')
  .map(
    (definition) =>
      ({
        ...definition,
        callers: ['anonymous'],
        plane: 'runtime',
      }) as unknown as RouteDefinition,
  );

/** Keeps one answer. */
const keepOneAnswer = (): IdempotencyStore => {
  let kept: Answer | undefined;
  return {
    async run(_call, work) {
      const replayed = kept !== undefined;
      kept ??= await work();
      return { answer: kept, replayed };
    },
    runInOne: () => Promise.reject(new Error('not under test')),
    runSlow: () => Promise.reject(new Error('not under test')),
  };
};

describe('names that a route does not know', () => {
  let service: ServiceUnderTest;
  beforeAll(async () => {
    service = await serveForTest(
      serviceApp({
        routes: openRoutes.map((definition) =>
          route(definition, async () => ({ body: new JsonText('{}') })),
        ),
        gatewayKeys: testIdentityKeys('gateway'),
        now: Date.now,
        idempotency: keepOneAnswer(),
        checkResponses: false,
        log: { error: () => {} },
        ready: async () => ({ isServing: true, dependencies: [] }),
      }),
      Date.now,
      createFindTestRoute(openRoutes),
    );
  });
  afterAll(() => service.stop());

  const call = ({ method, path }: RouteDefinition, query: string, body?: unknown) =>
    service.call(method, path.replaceAll(':', '') + query, { identity: anonymous(), body });

  it.each([
    ['filter={}', '"filter" (did you mean "where"?)'],
    ['q=x', '"q" (did you mean "search"?)'],
    ['order=title', '"order" (did you mean "sort"?)'],
    ['orderBy=title', '"orderBy" (did you mean "sort"?)'],
    ['page=2', '"page" (did you mean "offset"?)'],
    ['per_page=5', '"per_page" (did you mean "limit"?)'],
    ['limt=5', '"limt" (did you mean "limit"?)'],
    ['Sort=-title', '"Sort" (did you mean "sort"?)'],
    ['ofset=1', '"ofset" (did you mean "offset"?)'],
    ['select=a&expand=b', '"select" (did you mean "fields"?), "expand" (did you mean "include"?)'],
    ['count=exact', '"count" (did you mean "total"?)'],
  ])('refuses /db/things?%s and leads on', async (query, names) => {
    const { status, body } = await call(recordRoutes.listRecords, `?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid_query']);
    expect(body.error).toBe(
      `Unknown query parameter: ${names}. Known here: where, mine, group, search, sort, limit, offset, cursor, fields, include, total, explain.`,
    );
  });

  it.each([
    ['column=todo', '{"column":"todo"}'],
    ['done=true', '{"done":true}'],
    ['done=false&rank=2&team=null', '{"done":false,"rank":2,"team":null}'],
    ['zip=00501&long=12345678901234567890', '{"zip":"00501","long":"12345678901234567890"}'],
    ['rank[gte]=2', '{"rank":{"$gte":2}}'],
    ['rank__lt=2.5', '{"rank":{"$lt":2.5}}'],
    ['rank=gt.2&done=eq.true', '{"rank":{"$gt":2},"done":true}'],
    ['where[rank][gte]=2&filter[done]=true', '{"rank":{"$gte":2},"done":true}'],
    ['limti=5&column=todo', '{"column":"todo"}'],
  ])('says how to filter where ?%s meant fields', async (query, where) => {
    const { status, body } = await call(recordRoutes.listRecords, `?${query}`);
    expect(status).toBe(400);
    expect(body.hint).toBe(`To filter by a field, send where=${where}, URL-encoded.`);
  });

  it('says which variable was empty in a path, also where the call succeeds', async () => {
    for (const left of ['undefined', 'null', 'NaN', '%5Bobject%20Object%5D']) {
      const path = `/db/todos/${left}`;
      const { headers } = await service.call('GET', path, { identity: anonymous() });
      expect(headers.get('backlot-hint')).toBe(
        `The path has "${decodeURIComponent(left)}" in place of <id>: GET /db/<collection>/<id>. Was a variable empty, or an object?`,
      );
    }
    const { headers } = await service.call('GET', '/db/undefined', { identity: anonymous() });
    expect(headers.get('backlot-hint')).toContain('in place of <collection>');
  });

  it('lets a cache buster pass, and what the route knows', async () => {
    expect((await call(recordRoutes.listRecords, '?_=1700&limit=5')).status).toBe(200);
    expect((await call(recordRoutes.getRecord, '?_=1700')).status).toBe(200);
  });

  it('refuses any parameter where a route of /db or beyond the reference takes none', async () => {
    const { status, body } = await call(recordRoutes.deleteRecord, '?select=title');
    expect([status, body.error]).toEqual([
      400,
      'Unknown query parameter: "select". None is known here.',
    ]);
    expect((await call(projectRoutes.listProjects, '?page=2')).body.error).toContain('"page"');
  });

  it.each<[string, RouteDefinition, object, string]>([
    [
      'a project',
      projectRoutes.createProject,
      { title: 'x' },
      'Unknown field: "title" (did you mean "name"?). Known here: name, externalId, settings.',
    ],
    [
      'a nested setting',
      projectRoutes.updateProject,
      { settings: { aimodel: 'x' } },
      '"settings.aimodel" (did you mean "aiModel"?)',
    ],
    [
      'a signature',
      storageRoutes.signFile,
      { expires: 60 },
      '"expires" (did you mean "expiresIn"?)',
    ],
    [
      'a password',
      authRoutes.changePassword,
      { oldPassword: 'a', newPassword: 'abcdefgh' },
      '"oldPassword" (did you mean "currentPassword"?)',
    ],
    [
      'an access',
      recordRoutes.setCollectionAccess,
      { acl: 'private' },
      '"acl" (did you mean "access"?)',
    ],
  ])(
    'refuses in the body of %s what it does not know',
    async (_what, definition, body, message) => {
      const answer = await call(definition, '', body);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
      expect(answer.body.error).toContain(message);
    },
  );

  const conversation = { messages: [{ role: 'user', content: 'x' }] };
  const mail = { to: 'a@example.org', subject: 'x', html: 'x' };
  it.each<[RouteDefinition, string, unknown, string]>([
    [
      aiRoutes.generateText,
      '',
      { ...conversation, max_output_tokens: 5, temperature: 1 },
      'Ignored field: "max_output_tokens" (did you mean "maxTokens"?), "temperature". Known here: messages, system, json, maxTokens, stream, prompt.',
    ],
    [
      emailRoutes.sendEmail,
      '',
      { ...mail, reply_too: 'x', priority: 'y' },
      'Ignored field: "reply_too" (did you mean "replyTo"?), "priority". Known here: to, cc, bcc, replyTo, attachments, subject, html, template, data.',
    ],
    [
      recordRoutes.createRecord,
      '',
      { data: { anything: 1 }, sharedWith: [], acl: {} },
      'Ignored field: "sharedWith", "acl". Known here: data, groupId.',
    ],
    [
      paymentRoutes.createCheckout,
      '',
      {
        items: [{ name: 'x', amount: 5, colour: 'red' }],
        returnUrl: 'https://example.org',
        metadata: { anything: 'x' },
      },
      'Ignored field: "items.0.colour". Known here: product, name, amount, quantity.',
    ],
    [
      paymentRoutes.verifyPayment,
      '?session_id=x&provider=stripe',
      undefined,
      'Ignored query parameter: "provider". Known here: session_id.',
    ],
  ])(
    'goes on in $operationId, and says in a header what it ignored',
    async (definition, query, body, hint) => {
      const { status, headers } = await call(definition, query, body);
      expect([status, headers.get('backlot-hint')]).toEqual([definition.status, hint]);
    },
  );

  it('says it with a failure too, which is most often its cause', async () => {
    const { status, headers, body } = await call(emailRoutes.sendEmail, '', {
      recipient: 'a@example.org',
      title: 'x',
      body: 'x',
    });
    expect(status).toBe(400);
    const ignored =
      'Ignored field: "recipient" (did you mean "to"?), "title" (did you mean "subject"?), "body" (did you mean "html"?). Known here: to, cc, bcc, replyTo, attachments, subject, html, template, data.';
    expect([headers.get('backlot-hint'), body.hint]).toEqual([ignored, ignored]);
  });

  it.each<[RouteDefinition, string, unknown, string, string]>([
    [emailRoutes.sendEmail, '', { ...mail, sendAt: '2030-01-01' }, '"sendAt"', 'goes out at once'],
    [emailRoutes.sendEmail, '', { ...mail, scheduled_at: 'x' }, '"scheduled_at"', 'at once'],
    [emailRoutes.sendEmail, '', { ...mail, templateId: 'x' }, '"templateId"', '"template"'],
    [emailRoutes.sendEmail, '', { ...mail, attachment: 'x' }, '"attachment"', '/storage/upload'],
    [emailRoutes.sendEmail, '?replyTo=x', mail, '"replyTo"', '"replyTo" goes into the body.'],
    [aiRoutes.generateText, '', { ...conversation, tools: [] }, '"tools"', 'calls no tools'],
    [aiRoutes.generateText, '', { ...conversation, response_format: {} }, '"json"', '"json": true'],
    [aiRoutes.generateText, '', { ...conversation, images: ['x'] }, '"images"', '"fileId"'],
    [aiRoutes.generateText, '?stream=true', conversation, '"stream"', 'goes into the body'],
    [
      aiRoutes.generateText,
      '',
      { messages: [{ role: 'user', content: 'x', tool_calls: [] }] },
      '"messages.0.tool_calls"',
      'calls no tools',
    ],
  ])(
    'are refused with the way where they change what $operationId does: %#',
    async (definition, query, body, name, way) => {
      const answer = await call(definition, query, body);
      expect([answer.status, answer.body.code]).toEqual([
        400,
        query === '' ? 'invalid_body' : 'invalid_query',
      ]);
      expect(answer.body.error).toContain(name);
      expect(answer.body.hint).toContain(way);
    },
  );

  it('can not hide behind many that change nothing', async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`extra${n}`, n]));
    const answer = await call(emailRoutes.sendEmail, '', { ...many, ...mail, send_at: 'x' });
    expect(answer.body.error).toMatch(/^Unknown field: "send_at"/);
    expect(answer.status).toBe(400);
  });

  it('says it with a replayed answer too', async () => {
    for (const replayed of [null, 'true']) {
      const { headers } = await service.call('POST', '/email/send', {
        identity: anonymous(),
        body: { ...mail, priority: 'x' },
        headers: { 'idempotency-key': 'k' },
      });
      expect(headers.get('idempotent-replayed')).toBe(replayed);
      expect(headers.get('backlot-hint')).toContain('"priority"');
    }
  });

  it('keeps the header one short line of plain ASCII, whatever a key holds', async () => {
    const keys = [
      'a\r\nSet-Cookie: x=1',
      'ü'.repeat(100),
      '\u202e"quoted"\\',
      '\0',
      'k'.repeat(5000),
    ];
    const extra = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`extra${n}`, n]));
    const { status, headers } = await call(emailRoutes.sendEmail, '', {
      ...mail,
      ...Object.fromEntries(keys.map((key) => [key, 1])),
      ...extra,
    });
    const hint = headers.get('backlot-hint') ?? '';
    expect([status, headers.get('set-cookie')]).toEqual([200, null]);
    expect(hint).toMatch(/^[\x20-\x7e]{1,500}$/);
    expect(hint).toContain('"a??Set-Cookie: x=1"');
    expect(hint).not.toContain('extra');
  });

  it('is silent where all is known, and where nobody could be taught', async () => {
    const known = await call(emailRoutes.sendEmail, '', mail);
    expect(known.headers.has('backlot-hint')).toBe(false);
    for (const [definition, query, body] of [
      [paymentRoutes.receiveWebhook, '?source=stripe', { anything: 1 }],
      [emailRoutes.receiveSendgridEvents, '?x=1', [{ event: 'bounce', more: 1 }]],
      [storageRoutes.getFile, '?utm_source=mail', undefined],
      [authRoutes.getJwks, '?x=1', undefined],
    ] as const) {
      const { status, headers } = await call(definition, query, body);
      expect([definition.operationId, status]).toEqual([definition.operationId, definition.status]);
      expect(headers.has('backlot-hint')).toBe(false);
    }
  });

  it('says where a name belongs that others send here', async () => {
    const changed = await call(authRoutes.updateMe, '', { email: 'a@example.org', name: 'Ada' });
    expect([changed.status, changed.body.hint]).toEqual([
      400,
      expect.stringContaining('POST /auth/change-email'),
    ]);
    const account = { email: 'a@example.org', password: 'a good long password' };
    const made = await call(authRoutes.signUp, '', { ...account, profile: {}, toString: 1 });
    expect(made.status).toBe(201);
    expect(made.headers.get('backlot-hint')).toMatch(/^Ignored field: .* PATCH \/auth\/me/);
    for (const { elsewhere = {}, refuses = {} } of routes as readonly RouteDefinition[])
      expect(Object.values({ ...elsewhere, ...refuses }).join('')).toMatch(/^[\x20-\x7e]*$/);
  });

  it('are refused by every route but those of the reference and those that nobody can teach', () => {
    const lenient = (policy: string) =>
      routes
        .filter(({ unknownBody }) => unknownBody === policy)
        .map(({ operationId }) => operationId)
        .sort();
    expect(lenient('hinted')).toEqual(
      [
        'signUp',
        'signIn',
        'getMe',
        'createRecord',
        'updateRecord',
        'replaceRecord',
        'generateText',
        'uploadFile',
        'sendEmail',
        'createCheckout',
        'verifyPayment',
      ].sort(),
    );
    const askedByApps = ['checkReturn', 'listAuthProviders'];
    const pagesAndWebhooks = routes
      .filter(
        ({ answers, ignoresCredentials, operationId }) =>
          answers === 'html' ||
          (answers === 'file' && !/^export/.test(operationId)) ||
          (ignoresCredentials && !askedByApps.includes(operationId)),
      )
      .map(({ operationId }) => operationId);
    const checkedByItsProtocol = 'callTools';
    expect(lenient('ignored')).toEqual([...pagesAndWebhooks, checkedByItsProtocol].sort());
  });
});

it('names nothing where nothing is near', () => {
  expect(nearestName('zzz', ['where', 'sort'])).toBeUndefined();
  expect(nearestName('done', ['mine', 'name'])).toBeUndefined();
  expect(nearestName('x', ['to'])).toBeUndefined();
  expect(nearestName('constructor', ['name'])).toBeUndefined();
  expect(nearestName('名前', ['価格', '名'])).toBeUndefined();
});
