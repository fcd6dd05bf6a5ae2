import {
  hasScope,
  type KeyScope,
  keyScopes,
  neededScope,
  type RouteDefinition,
  routes,
} from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const someId = '018f0000-0000-7000-8000-000000000000';

/** How a call with a key is refused before anybody looks at what it asks for. */
const refusalOf = ({ plane, ...route }: RouteDefinition, scope: KeyScope) => {
  const needed = neededScope(route);
  if (needed !== null) return hasScope([scope], needed) ? null : `a key with the scope "${needed}"`;
  if (plane === 'runtime') return 'not open to the caller "key"';
  return 'No secret key opens this call';
};
const isJudged = ({ ignoresCredentials }: RouteDefinition) => !ignoresCredentials;

describe.each(usualModes)('secret keys at every route, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const keys = new Map<KeyScope, string>();
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    for (const scope of keyScopes) {
      const { body } = await platform.control('POST', `/projects/${project.id}/keys`, {
        token: project.owner.token,
        body: { name: scope, scopes: [scope] },
      });
      keys.set(scope, String(body.key));
    }
  });
  afterAll(() => platform.stop());

  it.each(routes.filter(isJudged).map((route) => [route.operationId, route] as const))(
    '%s opens to keys as the table of scopes says',
    async (_operationId, route: RouteDefinition) => {
      // A stream that opens has no end; this one does not open.
      const query = route.answers === 'events' ? '?lastEventId=none' : '';
      const path =
        route.path.replace(':projectId', project.id).replace(/:[A-Za-z]+/g, someId) + query;
      const api = route.plane === 'platform' ? platform.control : project.api;
      for (const [scope, token] of keys) {
        const { status, body } = await api(route.method, path, {
          token,
          ...(route.body ? { body: {} } : {}),
        });
        const refusal = refusalOf(route, scope);
        const byKey =
          (status === 401 || status === 403) &&
          /a key with the scope "\w+"|not open to the caller "key"|No secret key opens this call/.exec(
            String(body.error),
          )?.[0];
        // Where a body is wrong as well, the service says that first: the call is refused either way.
        const isRefused = refusal !== null && status === 400 ? refusal : byKey || null;
        expect([route.operationId, scope, isRefused]).toEqual([route.operationId, scope, refusal]);
      }
    },
  );

  it('set no roles and no money on either plane', async () => {
    const token = keys.get('admin') ?? '';
    const user = await platform.signUp(project.id);
    for (const [api, path, body] of [
      [project.api, `/users/${user.id}`, { role: 'staff' }],
      [platform.control, `/projects/${project.id}/users/${user.id}`, { role: 'staff' }],
      [platform.control, `/projects/${project.id}`, { settings: { payments: null } }],
    ] as const)
      expect(await api('PATCH', path, { token, body })).toMatchObject({ status: 403 });
    const seen = await platform.control('GET', `/projects/${project.id}/users/${user.id}`, {
      token,
    });
    expect(seen).toMatchObject({ status: 200, body: { role: 'user' } });
  });
});
