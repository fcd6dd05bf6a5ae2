import { ApiError, routes } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { createFindRoute } from './find-route.ts';

const findRoute = createFindRoute(routes);

const refusal = (plane: 'runtime' | 'platform', method: string, path: string): ApiError => {
  try {
    findRoute(plane, method, path, false);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It is a route.');
};

const id = '018f0000-0000-7000-8000-000000000000';

it.each<[string, string]>([
  ['/auth/login', 'To sign in: POST /auth/signin.'],
  ['/login', 'To sign in: POST /auth/signin.'],
  ['/auth/Login', 'To sign in: POST /auth/signin.'],
  ['/auth/register', 'To create an account: POST /auth/signup.'],
  ['/auth/sign-up', 'To create an account: POST /auth/signup.'],
  ['/auth/logout', 'To sign out: POST /auth/signout.'],
  ['/auth/user', 'The user: GET /auth/me.'],
  ['/user/me', 'The user: GET /auth/me.'],
  ['/auth/forgot-password', 'POST /auth/forgot, then POST /auth/reset'],
  ['/db', 'Name a collection: GET /db/<collection>.'],
  ['/rest/v1/todos', 'Records are at /db/<collection>.'],
  ['/collections/todos', 'PUT /api/platform/projects/<projectId>/collections/<collection>'],
  ['/teams/red', 'Teams are groups'],
  ['/organisations', 'Teams are groups'],
  ['/groups/red/invitations', 'POST /groups/<groupId>/invites'],
  ['/groups/red/join', 'POST /groups/join {"token"'],
  ['/groups/red/leave', 'DELETE /groups/<groupId>/members/<your user id>'],
  ['/collections/todos/records', 'Records are at /db/<collection>.'],
  ['/v1/chat/completions', 'To generate text: POST /ai.'],
  ['/ai/generate', 'To generate text: POST /ai.'],
  ['/upload', 'To upload a file: POST /storage/upload.'],
  ['/send-email', 'To send a mail: POST /email/send.'],
  ['/checkout', 'To start a payment: POST /payments/checkout.'],
  ['/storage/uplaod', 'Did you mean POST /storage/upload?'],
  ['/db/todos/', 'Did you mean GET, POST, DELETE /db/<collection>?'],
  [
    '/db/todos/018f0000-0000-7000-8000-000000000000/comments',
    'a field of another /db/<collection>',
  ],
  ['/', '/llms.txt, /openapi.json and /types.d.ts'],
  ['/docs', '/llms.txt, /openapi.json and /types.d.ts'],
  ['/sdk.js', '<host>/sdk.js'],
  ['/todos', 'Records are at /db/<collection>.'],
  ['/storage/list', 'To list them: GET /storage/files.'],
  ['/storage/018f0000-0000-7000-8000-000000000000', 'DELETE /storage/files/<id>'],
  ['/auth/google', 'GET /auth/oauth/<provider>?returnTo='],
  ['/auth/google/callback', 'GET /auth/oauth/<provider>?returnTo='],
  ['/auth/magic-link', 'A code by mail: POST /auth/code'],
  ['/auth/otp/verify', 'A code by mail: POST /auth/code'],
  ['/auth/mfa/enroll', 'Second factors: POST /auth/factors/totp'],
  ['/auth/webauthn/register', 'Passkeys: POST /auth/passkeys/options'],
  ['/auth/phone', 'There is no sign-in by phone'],
  ['/auth/anonymous', 'A session of a guest: POST /auth/guest.'],
  ['/auth/session', 'To sign in: POST /auth/signin.'],
  ['/auth/verify-email', 'POST /auth/verify {"token"'],
  ['/auth/resend', 'POST /auth/forgot'],
  ['/auth/users', 'GET /api/platform/projects/<projectId>/users'],
  [`/db/todos/${id}/restore`, 'POST /db/<collection>/<id>/_restore'],
  [`/db/todos/${id}/history`, 'GET /db/<collection>/<id>/_history'],
  [`/db/todos/${id}/versions/3`, 'GET /db/<collection>/<id>/_history'],
  [`/db/todos/${id}/jobs`, 'a field of another /db/<collection>'],
  ['/schedules', 'Nothing runs here at a time of its own'],
  ['/cron/daily', 'Nothing runs here at a time of its own'],
  ['/webhooks', 'PUT /api/platform/projects/<projectId>/webhooks/<name>'],
  ['/notifications', 'POST /email/send'],
  ['/rpc/total', 'No code of yours runs here'],
  ['/graphql', 'GET /db/<collection>?where='],
  ['/settings', '/api/platform/projects/<projectId>'],
  ['/ai/embeddings', 'Texts become no vectors'],
  ['/v1/embeddings', 'Texts become no vectors'],
  ['/ai/images', 'A model answers with text or JSON'],
  ['/storage/buckets', 'There are no buckets and folders'],
  ['/storage/v1/object/public/a.png', 'There are no buckets and folders'],
  ['/email/templates', 'A mail is its own text'],
  ['/payments/subscriptions', 'A payment is made once'],
  ['/payments/refund', '/api/platform/projects/<projectId>/payments/<paymentId>/refund'],
  ['/openapi.yaml', '/llms.txt, /openapi.json and /types.d.ts'],
  ['/docs/openapi.json', '/llms.txt, /openapi.json and /types.d.ts'],
  ['/realtime', 'GET /events?collections=<collection>'],
  ['/channels/room:1/messages', 'POST /events/broadcast'],
  ['/presence', 'GET /events?channels=<name>'],
  ['/functions/hello', 'a secret key'],
  ['/teams', 'GET, POST /groups'],
  ['/payments/create', 'To start a payment: POST /payments/checkout.'],
  ['/projects', "With an owner's token: GET, POST /api/platform/projects."],
  ['/nothing/like/any/of/ours', 'Every route is listed at /docs.'],
])('answers %s with %s', (path, hint) => {
  const error = refusal('runtime', 'POST', path);
  expect([error.code, error.message]).toEqual(['route_not_found', 'There is no such route.']);
  expect(error.hint).toContain(hint);
});

it.each([
  ['/projects/demo/schedules', 'Nothing runs here at a time of its own'],
  ['/projects/demo/cron', 'Nothing runs here at a time of its own'],
  ['/projects/demo/triggers', 'PUT /api/platform/projects/<projectId>/webhooks/<name>'],
  ['/projects/demo/functions', 'No code of yours runs here'],
  ['/projects/demo/functions/hello/deploy', 'No code of yours runs here'],
  ['/projects/demo/collections/todos/history', 'GET /db/<collection>/<id>/_history'],
  [
    '/projects/demo/collections/todos/indexes',
    '{"access", "indexes", "unique", "search", "limits"}',
  ],
  ['/projects/demo/db/todos', '/api/runtime/<projectId>/db/<collection>'],
  ['/projects/demo/settings', 'PATCH /api/platform/projects/<projectId> {"settings"'],
  ['/projects/demo/rules', 'collections/<collection> {"access"'],
  ['/projects/demo/schema', '/api/platform/projects/<projectId>/shape'],
  ['/projects/demo/logs', '/api/platform/projects/<projectId>/requests?status=failed'],
  ['/projects/demo/metrics', '/api/platform/projects/<projectId>/usage'],
  ['/projects/demo/backups', 'with a secret key'],
  ['/projects/demo/collaborators', '/api/platform/projects/<projectId>/invitations'],
  ['/projects/demo/domains', '/api/platform/projects/<projectId>/origins'],
  ['/projects/demo/oauth', 'auth-providers/<name>'],
  ['/projects/demo/openapi.json', '/api/runtime/<projectId>/openapi.json'],
  ['/openapi.json', '/docs/openapi.json'],
  ['/login', 'POST /api/runtime/platform/auth/signin'],
  ['/me', 'GET /api/runtime/platform/auth/me'],
])('answers %s of the control plane with %s', (path, hint) => {
  const error = refusal('platform', 'POST', path);
  expect([error.code, error.hint]).toEqual(['route_not_found', expect.stringContaining(hint)]);
});

it('leads from the control plane to a project', () => {
  expect(refusal('platform', 'GET', '/auth/me').hint).toBe(
    'In a project: GET, PATCH, DELETE /auth/me, after /api/runtime/<project>. Owners are users of the project "platform": POST /api/runtime/platform/auth/signup.',
  );
  expect(refusal('platform', 'GET', '/project').hint).toBe(
    'Did you mean GET, POST /api/platform/projects?',
  );
});

it('says what the built-in project has', () => {
  expect(() => findRoute('runtime', 'GET', '/db/notes', true)).toThrow(
    expect.objectContaining({ hint: 'The project "platform" holds the accounts of owners alone.' }),
  );
});

it.each([
  ['PUT', '/db/todos', 'It takes GET, HEAD, POST, DELETE. PUT goes to /db/<collection>/<id>.'],
  ['PATCH', '/db/todos', 'It takes GET, HEAD, POST, DELETE. PATCH goes to /db/<collection>/<id>.'],
  ['POST', '/db/todos/1', 'It takes GET, HEAD, PUT, PATCH, DELETE. POST goes to /db/<collection>.'],
  ['POST', '/db/todos/_bulk', 'Many at once: POST /db/<collection>/_batch.'],
  ['POST', '/db/todos/query', 'To list: GET /db/<collection>?where={"done":false}.'],
  ['GET', '/auth/signin', 'It takes POST.'],
  ['GET', '/ai', 'It takes POST.'],
  ['BREW', '/ai', 'It takes POST.'],
])('answers %s %s with "%s"', (method, path, hint) => {
  const error = refusal('runtime', method, path);
  expect([error.code, error.hint]).toEqual(['method_not_allowed', hint]);
});

it.each([
  ['/projects/demo/collections', 'PUT /api/platform/projects/<projectId>/collections/<collection>'],
  ['/projects/demo/on-paid', 'PUT /api/platform/projects/<projectId>/on-paid/<name>'],
])('leads from POST %s to "%s", which names what is made', (path, route) => {
  expect(refusal('platform', 'POST', path).hint).toBe(`It takes GET, HEAD. To make one: ${route}.`);
});

it('takes bounded time for any path', () => {
  for (const path of [
    '/'.repeat(60_000),
    `/${'a/'.repeat(30_000)}`,
    `/auth/${'login'.repeat(10_000)}`,
  ])
    expect(refusal('runtime', 'GET', path).hint).toMatch(/^[\x20-\x7e]{1,200}$/);
});
