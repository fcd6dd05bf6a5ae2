import type { Answer, Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

interface Guess {
  typed: string;
  body?: unknown;
  status: number;
  /** In the error, its hint or the header Backlot-Hint. */
  leadsTo: string[];
}

const where = (filter: object) => `where=${encodeURIComponent(JSON.stringify(filter))}`;
const unknownId = '018f0000-0000-7000-8000-000000000000';
const listNames =
  'Known here: where, mine, group, search, sort, limit, offset, cursor, fields, include, total';
const mail = { to: 'ada@example.org', subject: 'x', html: 'x' };
const item = { name: 'Mug', quantity: 1 };
const returnUrl = 'http://localhost/paid';
const messages = [{ role: 'user', content: 'A recipe' }];

/** What people bring from other backends, as they were seen to type it. */
const guesses: Guess[] = [
  {
    typed: 'GET /db/cards?column=todo',
    status: 400,
    leadsTo: [listNames, 'To filter by a field, send where={"column":"todo"}'],
  },
  {
    typed: 'GET /db/cards?done=true&rank[gte]=2',
    status: 400,
    leadsTo: [listNames, 'send where={"done":true,"rank":{"$gte":2}}'],
  },
  {
    typed: 'POST /db/cards',
    body: '[object Object]',
    status: 400,
    leadsTo: ['Send what JSON.stringify makes of an object'],
  },
  { typed: 'GET /db/cards?where=done:true', status: 400, leadsTo: ['JSON.stringify makes of {'] },
  { typed: 'GET /db/cards?sort=-created_at', status: 200, leadsTo: ['own is "createdAt"'] },
  { typed: 'GET /db/cards?api_key=x', status: 400, leadsTo: ['Authorization: Bearer <token>'] },
  { typed: 'GET /db/cards/undefined', status: 404, leadsTo: ['<id>: GET /db/<collection>/<id>'] },
  { typed: 'GET /db/undefined', status: 200, leadsTo: ['<collection>: GET /db/<collection>'] },
  {
    typed: 'PATCH /db/cards/[object%20Object]',
    status: 400,
    leadsTo: ['an object with any of "data", "unset", "inc"', 'PATCH /db/<collection>/<id>'],
  },
  {
    typed: `PATCH /db/cards/${unknownId}`,
    body: { title: 'x' },
    status: 400,
    leadsTo: ['as in {"data":{"done":true}}', 'Ignored field: "title"'],
  },
  {
    typed: 'POST /db/cards',
    body: { data: { data: { title: 'x' } } },
    status: 201,
    leadsTo: ['{"data":{"title":"x"}}', 'create({"title":"x"})'],
  },
  {
    typed: 'POST /db/cards',
    body: { data: [{ title: 'x' }] },
    status: 400,
    leadsTo: ['POST /db/<collection>/_batch {"create":[{"data":{"title":"x"}}]}'],
  },
  {
    typed: 'GET /db/cards?search=x',
    status: 400,
    leadsTo: ['"search" is not switched on', '{"search": true}'],
  },
  { typed: 'GET /db/cards?q=x', status: 400, leadsTo: [listNames, 'did you mean "search"?'] },
  { typed: 'GET /db/cards?order=x', status: 400, leadsTo: [listNames, 'did you mean "sort"?'] },
  { typed: 'GET /db/cards?page=2', status: 400, leadsTo: [listNames, 'did you mean "offset"?'] },
  { typed: 'GET /db/cards?select=title', status: 400, leadsTo: ['did you mean "fields"?'] },
  { typed: 'GET /db/cards?expand=author', status: 400, leadsTo: ['did you mean "include"?'] },
  { typed: 'GET /db/cards?per_page=9', status: 400, leadsTo: ['did you mean "limit"?'] },
  {
    typed: `GET /db/cards?${where({ title: { contains: 'x' } })}`,
    status: 200,
    leadsTo: ['Operators begin with "$"', '{"title":{"$contains":...}}'],
  },
  ...['$ilike', '$like', '$icontains', '$regex', '$search'].map((operator) => ({
    typed: `GET /db/cards?${where({ title: { [operator]: 'x' } })}`,
    status: 400,
    leadsTo: ['Did you mean "$contains"?', 'Known: $eq, $ne, $in', '"$options":"i" ignores case'],
  })),
  {
    typed: `GET /db/cards?${where({ tags: { $elemMatch: {} } })}`,
    status: 400,
    leadsTo: ['"$elemMatch" is not an operator', 'Known: $eq, $ne, $in'],
  },
  { typed: 'GET /db/cards?sort=n:desc', status: 400, leadsTo: ['send sort=-n'] },
  { typed: 'GET /db/cards?sort=n%20desc', status: 400, leadsTo: ['send sort=-n'] },
  { typed: 'GET /db/cards?sort=n.desc', status: 200, leadsTo: ['put "-" before the field'] },
  { typed: 'GET /db/cards/count', status: 404, leadsTo: ['Did you mean /db/cards/_count?'] },
  {
    typed: 'POST /db/cards',
    body: { data: { id: 'mine', createdAt: 'now' } },
    status: 201,
    leadsTo: ['"id", "createdAt"', 'the server sets', '?upsert=1'],
  },
  {
    typed: 'POST /db/cards',
    body: { data: {}, sharedWith: ['x'], acl: {} },
    status: 201,
    leadsTo: ['"sharedWith", "acl"'],
  },
  {
    typed: 'POST /db/cards',
    body: { title: 'x' },
    status: 400,
    leadsTo: ['"data" must be an object, as in {"data":{"title":"x"}}'],
  },
  {
    typed: `PUT /db/cards/${unknownId}`,
    body: { data: {} },
    status: 404,
    leadsTo: ['?upsert=1'],
  },
  {
    typed: 'DELETE /db/cards',
    status: 403,
    leadsTo: ['Delete the records that fit a filter: for owner, key, operator.'],
  },
  { typed: 'GET /db', status: 404, leadsTo: ['GET /db/<collection>'] },
  { typed: 'POST /auth/login', body: {}, status: 404, leadsTo: ['POST /auth/signin'] },
  { typed: 'POST /auth/register', body: {}, status: 404, leadsTo: ['POST /auth/signup'] },
  { typed: 'POST /auth/logout', body: {}, status: 404, leadsTo: ['POST /auth/signout'] },
  { typed: 'GET /auth/signin', status: 405, leadsTo: ['It takes POST.'] },
  {
    typed: 'POST /auth/signup',
    body: '"eve@example.org"',
    status: 400,
    leadsTo: ['The body must be an object with "email", "password" and perhaps "name"'],
  },
  {
    typed: 'POST /auth/signin',
    status: 400,
    leadsTo: ['Send a JSON body: an object with "email", "password"'],
  },
  {
    typed: 'POST /auth/signup',
    body: { email: 'eve@example.org', password: 'abc' },
    status: 400,
    leadsTo: ['"password" needs at least 8 characters'],
  },
  {
    typed: 'POST /auth/signin',
    body: { username: 'eve', pass: 'abc' },
    status: 400,
    leadsTo: ['"email" is missing', 'did you mean "email"?', 'did you mean "password"?'],
  },
  {
    typed: 'GET /projects',
    status: 404,
    leadsTo: ["With an owner's token", '/api/platform/projects'],
  },
  {
    typed: 'POST /ai',
    body: { messages, max_output_tokens: 5, model: 'x', temperature: 1 },
    status: 200,
    leadsTo: ['"max_output_tokens" (did you mean "maxTokens"?), "model", "temperature"'],
  },
  {
    typed: 'POST /ai',
    body: { messages, response_format: {} },
    status: 400,
    leadsTo: ['"response_format"', '"json": true'],
  },
  {
    typed: 'POST /ai',
    body: { prompt: 'x' },
    status: 400,
    leadsTo: ['"messages" is missing: send a list such as [{"role": "user", "content": "Hello"}]'],
  },
  {
    typed: 'POST /ai',
    body: { messages: 'Hello' },
    status: 400,
    leadsTo: ['"messages" must be a list such as [{"role": "user", "content": "Hello"}]'],
  },
  {
    typed: 'POST /ai',
    body: { messages: ['Hello'] },
    status: 400,
    leadsTo: ['"messages.0" must be an object such as {"role": "user", "content": "Hello"}'],
  },
  {
    typed: 'POST /ai',
    body: { messages: [{ role: 'user', text: 'Hello' }] },
    status: 400,
    leadsTo: ['"messages.0.text" (did you mean "content"?)'],
  },
  {
    typed: 'POST /email/send',
    body: { ...mail, from: 'me@example.org' },
    status: 200,
    leadsTo: ['"from"'],
  },
  {
    typed: 'POST /payments/checkout',
    body: { items: [{ ...item, amount: 12.5 }], returnUrl },
    status: 400,
    leadsTo: ['is in cents: a whole number, such as 1999'],
  },
  {
    typed: 'POST /payments/checkout',
    body: { items: [{ ...item, price: 1200 }], returnUrl },
    status: 400,
    leadsTo: ['did you mean "amount"?', '"amount" in the smallest unit'],
  },
  {
    typed: 'GET /payments/verify?sessionId=x',
    status: 400,
    leadsTo: ['did you mean "session_id"?'],
  },
  {
    typed: 'POST /storage/upload',
    body: { file: 'aGVsbG8=' },
    status: 415,
    leadsTo: ['the body is a FormData with the file as "file"'],
  },
  {
    typed: 'POST /ai',
    body: { messages, prompt: 'Write a poem.' },
    status: 400,
    leadsTo: ['the name of a prompt of the owner; texts go into "messages"'],
  },
  {
    typed: 'POST /ai',
    body: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    status: 400,
    leadsTo: ['{"type": "image", "fileId": "<id>"}'],
  },
  { typed: 'GET /db/cards/latest', status: 404, leadsTo: ['&sort=-createdAt&limit=1'] },
  { typed: 'POST /upload', body: {}, status: 404, leadsTo: ['POST /storage/upload'] },
  { typed: 'GET /teams', status: 404, leadsTo: ['Teams are groups: GET, POST /groups'] },
  {
    typed: `POST /groups/${unknownId}/members`,
    body: { email: 'bob@example.org' },
    status: 405,
    leadsTo: ['POST /groups/<groupId>/invites'],
  },
  {
    typed: `POST /groups/${unknownId}/invitations`,
    body: {},
    status: 404,
    leadsTo: ['POST /groups/<groupId>/invites'],
  },
  {
    typed: `POST /groups/${unknownId}/join`,
    body: {},
    status: 404,
    leadsTo: ['POST /groups/join'],
  },
  {
    typed: `POST /groups/${unknownId}/leave`,
    body: {},
    status: 404,
    leadsTo: ['DELETE /groups/<groupId>/members/<your user id>'],
  },
  {
    typed: 'PUT /collections/cards',
    body: { access: 'team' },
    status: 404,
    leadsTo: ['PUT /api/platform/projects/<projectId>/collections/<collection>'],
  },
  { typed: 'POST /products', body: {}, status: 405, leadsTo: ['PUT /products/<productId>'] },
  { typed: 'GET /auth/google', status: 404, leadsTo: ['GET /auth/oauth/<provider>'] },
  { typed: 'POST /db/_batch', body: {}, status: 400, leadsTo: ['/db/<collection>/_batch'] },
  {
    typed: `GET /db/cards/${unknownId}/history`,
    status: 404,
    leadsTo: ['GET /db/<collection>/<id>/_history'],
  },
  {
    typed: `POST /db/cards/${unknownId}/restore`,
    body: {},
    status: 404,
    leadsTo: ['POST /db/<collection>/<id>/_restore'],
  },
  { typed: 'POST /functions/v1/hello', body: {}, status: 404, leadsTo: ['No code of yours'] },
  { typed: 'POST /schedules', body: {}, status: 404, leadsTo: ['at a time of its own'] },
  { typed: 'GET /db/cards/_subscribe', status: 404, leadsTo: ['_count, _aggregate'] },
];

describe('what a newcomer types in the first hour', () => {
  let platform: PlatformUnderTest;
  let project: { id: string; owner: Account; api: Api };
  let ada: Account;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    ada = await platform.signUp(project.id);
    await project.api('POST', '/db/cards', { token: ada.token, body: { data: { title: 'x' } } });
  });
  afterAll(() => platform.stop());

  const wordsOf = ({ headers, body }: Answer) =>
    [headers.get('backlot-hint'), body.error, body.hint].join(' ');

  it.each(guesses.map((guess) => [guess.typed, guess] as const))(
    '%s is led on',
    async (typed, { body, status, leadsTo }) => {
      const [method = '', path = ''] = typed.split(' ');
      const answer = await project.api(method, path, { token: ada.token, body });
      expect([typed, answer.status]).toEqual([typed, status]);
      for (const words of leadsTo) expect(wordsOf(answer)).toContain(words);
    },
  );

  it.each([
    ['made-up', 'invalid_token', 'Send it as Authorization: Bearer <token>.'],
    ['Bearer undefined', 'invalid_token', 'Send it as Authorization: Bearer <token>.'],
  ])('is told how a token is sent, after %s', async (authorization, code, hint) => {
    const { body } = await project.api('GET', '/auth/me', { headers: { authorization } });
    expect([body.code, body.hint]).toEqual([code, expect.stringContaining(hint)]);
  });

  it('is told by the control plane whose token it takes', async () => {
    const answer = await platform.control('GET', '/projects', { token: ada.token });
    expect([answer.status, answer.body.hint]).toEqual([
      401,
      "The control plane takes an owner's token: POST /api/runtime/platform/auth/signin. To become one: POST /api/runtime/platform/auth/signup.",
    ]);
  });

  it('is told by the control plane how one becomes an owner', async () => {
    const owner = 'POST /api/runtime/platform/auth/signup';
    const nobody = await platform.control('POST', '/projects', { body: { name: 'Board' } });
    expect([nobody.status, nobody.body.hint]).toEqual([401, expect.stringContaining(owner)]);
    const signUp = await platform.control('POST', '/auth/signup', { body: {} });
    expect([signUp.status, signUp.body.hint]).toEqual([404, expect.stringContaining(owner)]);
  });

  it('gets JSON in the form of a sketch', async () => {
    const { status, body } = await project.api('POST', '/ai', {
      token: ada.token,
      body: { messages, json: { title: 'string', ingredients: ['string'] } },
    });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.data).toEqual({ title: expect.any(String), ingredients: expect.any(Array) });
  });

  it('may send the headers of other clients', async () => {
    const asked = 'apikey,authorization,cache-control,prefer,x-client-info';
    const response = await fetch(`${platform.url}/api/runtime/${project.id}/db/cards`, {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Headers': asked },
    });
    expect(response.headers.get('access-control-allow-headers')).toBe(asked);
  });
});
