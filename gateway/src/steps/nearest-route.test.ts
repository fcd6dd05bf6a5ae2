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
  ['/db/todos/', 'Did you mean GET, POST /db/<collection>?'],
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
  ['/auth/google', 'POST /auth/signup'],
  ['/realtime', 'list again from time to time'],
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
  ['DELETE', '/db/todos', 'It takes GET, HEAD, POST. DELETE goes to /db/<collection>/<id>.'],
  ['PATCH', '/db/todos', 'It takes GET, HEAD, POST. PATCH goes to /db/<collection>/<id>.'],
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
